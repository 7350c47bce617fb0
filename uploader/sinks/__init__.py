"""Sinks: where sealed batches go. A sink sends one batch at a time when asked, and knows nothing of queues or files."""
