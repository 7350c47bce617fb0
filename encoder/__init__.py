"""Encode pydantic models to JSON incrementally, releasing the GIL every millisecond."""
