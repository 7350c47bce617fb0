"""What leaves a field out by its value, and which of these functions may be asked more than once."""

from collections.abc import Callable
from typing import Any

# What a field's `exclude_if` is.
Condition = Callable[[Any], bool]

_pure: list[Condition] = []


def pure(function: Condition) -> Condition:
    """Declare that an `exclude_if` looks at its value and does nothing else, so that it may be called again."""
    _pure.append(function)
    return function


def is_pure(function: Condition) -> bool:
    """Whether a function was declared to be `pure`."""
    return any(function is known for known in _pure)  # what is callable need not be hashable
