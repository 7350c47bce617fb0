"""What a delta can say: small facts, some of them with a part of the line that holds a value.

On the wire each is an array: its name, and its fields in order. `trace` is the number of a trace within its stream, or
null for the record itself. A part that belongs to an operation stands in the line in the operations' order.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from encoder.errors import MalformedDeltaError


class Shape(NamedTuple):
    """Which fields there are, in order; `lists` are those among them that are sent item by item."""

    trace: int | None
    fields: list[str]
    lists: list[str]


class Value(NamedTuple):
    """A field's value, new or changed; the part is the value."""

    trace: int | None
    name: str
    size: int


class Items(NamedTuple):
    """Some items of a list, as the list's `chunk`-th part; the part is an array of them.

    A chunk one behind the last is new, any other takes the place of the one that was sent before.
    """

    trace: int | None
    name: str
    chunk: int
    num_items: int
    size: int


class Keep(NamedTuple):
    """A list got shorter: only its first chunks are left."""

    trace: int | None
    name: str
    chunks: int


class Pending(NamedTuple):
    """The messages that no node holds yet; the part is an array of them."""

    trace: int | None
    size: int


class Traces(NamedTuple):
    """Which traces there are, in order; a number that is new begins a new one."""

    numbers: list[int]


Operation = Shape | Value | Items | Keep | Pending | Traces

Check = Callable[[Any], bool]


def is_count(value: Any) -> bool:
    """Whether a value is an integer, and not a negative one."""
    return type(value) is int and value >= 0


def _is_trace(value: Any) -> bool:
    return value is None or is_count(value)


def _is_name(value: Any) -> bool:
    return type(value) is str


def _are_names(value: Any) -> bool:
    return type(value) is list and all(map(_is_name, value)) and len(set(value)) == len(value)


def _are_numbers(value: Any) -> bool:
    return type(value) is list and all(map(is_count, value)) and len(set(value)) == len(value)


# Each operation by its name on the wire, and what its fields must be.
_KINDS: Final[dict[str, tuple[type[Any], tuple[Check, ...]]]] = {
    "shape": (Shape, (_is_trace, _are_names, _are_names)),
    "value": (Value, (_is_trace, _is_name, is_count)),
    "items": (Items, (_is_trace, _is_name, is_count, is_count, is_count)),
    "keep": (Keep, (_is_trace, _is_name, is_count)),
    "pending": (Pending, (_is_trace, is_count)),
    "traces": (Traces, (_are_numbers,)),
}
_NAMES: Final = {kind: name for name, (kind, _) in _KINDS.items()}


def to_wire(operation: Operation) -> list[Any]:
    """The array that stands for an operation."""
    return [_NAMES[type(operation)], *operation]


def from_wire(array: Any) -> Operation:
    """The operation that an array stands for.

    Raises:
        MalformedDeltaError: it stands for none.
    """
    if type(array) is list and array and type(array[0]) is str and array[0] in _KINDS:
        kind, checks = _KINDS[array[0]]
        if len(array) == 1 + len(checks) and all(check(field) for check, field in zip(checks, array[1:], strict=True)):
            operation: Operation = kind(*array[1:])
            return operation
    raise MalformedDeltaError(f"{str(array)[:200]} is no operation")
