"""Runs: their identity, how they are opened and closed on the platform, their metrics."""
