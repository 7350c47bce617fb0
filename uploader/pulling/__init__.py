"""Pulling: brings a run back, from a store or a service, as lines."""
