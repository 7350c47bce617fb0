"""Upload encoded episodes and traces without ever blocking the event loop."""
