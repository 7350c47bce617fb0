"""Delivery: brings spooled batches to sinks, at each sink's pace, for as long as it takes."""
