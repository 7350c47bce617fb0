"""What trees of JSON's own types weigh: whether one call of orjson may write them."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from encoder.writers.base import CONTAINER_WEIGHT, SCALAR_WEIGHT

# How deep a tree may be to be weighed by recursion; deeper ones are walked, one container at a time.
_WEIGHED_DEPTH: Final = 32

# What a value that is none of JSON's own types weighs: it is one leaf.
_LEAF: Final = 16

# The answers of `weigh` that are no remaining room.
TOO_HEAVY: Final = -1
FOREIGN: Final = -2

SCALARS: Final[frozenset[type]] = frozenset({int, float, bool, type(None)})
_TEXT: Final = frozenset({str})

PLAIN: Final[frozenset[type]] = SCALARS | _TEXT

# Items that are looked at together: some 20 microseconds.
ROW: Final = 1024

# Items up to which each is looked at by itself, and from where on a few may speak for all.
_FEW: Final = 4
_MANY: Final = 64


def weigh(value: Any, room: int, depth: int = _WEIGHED_DEPTH, *, strict: bool = False) -> int:
    """The room that is left once the value has been counted, TOO_HEAVY or FOREIGN.

    Args:
        value: a tree.
        room: the weight that it may have.
        depth: the containers it may have inside each other.
        strict: answer FOREIGN to whatever is not exactly one of JSON's own types.
    """
    kind = type(value)
    if kind is str:
        left = room - len(value)
        return left if left >= 0 else TOO_HEAVY
    if kind in SCALARS:
        return room - SCALAR_WEIGHT if room >= SCALAR_WEIGHT else TOO_HEAVY
    if kind is dict or kind is list or kind is tuple:
        if strict and not value and kind is tuple:
            return FOREIGN  # which orjson does not count as a container, but pydantic makes a list of it
        room -= CONTAINER_WEIGHT + 8 * len(value)
        if room < 0 or not depth:
            return TOO_HEAVY
        if kind is dict:
            return _weigh_dict(value, room, depth, strict)
        return _weigh_items(tuple(value), room, depth, strict)
    if strict:
        return FOREIGN
    left = room - _leaf_weight(value)
    return left if left >= 0 else TOO_HEAVY


def _weigh_dict(value: dict[Any, Any], room: int, depth: int, strict: bool) -> int:
    for key in list(value):  # by one call, as another thread may add some
        if type(key) is str:
            room -= len(key)
        elif strict:
            return FOREIGN
    return _weigh_items(list(value.values()), room, depth, strict)


def _weigh_items(items: Sequence[Any], room: int, depth: int, strict: bool) -> int:
    if not strict and len(items) > _MANY and set(map(type, items[:: len(items) // _FEW])) <= SCALARS:
        return room  # dumped already, so this is about time alone: a few of many items speak for the others
    if len(items) > _FEW:
        kinds = set(map(type, items))
        if kinds <= SCALARS:
            return room if room >= 0 else TOO_HEAVY  # counted with the container
        if kinds == _TEXT:
            room -= sum(map(len, items))
            return room if room >= 0 else TOO_HEAVY
    for item in items:
        room = weigh(item, room, depth - 1, strict=strict)
        if room < 0:
            return room
    return room


def weigh_row(items: Collection[Any], kinds: frozenset[type] = PLAIN) -> int:
    """What some items weigh together that are exactly of some types; FOREIGN if one of them is not.

    Args:
        items: the items, at most `ROW` of them.
        kinds: the types, of numbers, truth values, null and text.
    """
    found = set(map(type, items))
    if not found <= kinds:
        return FOREIGN
    if str not in found:
        return 8 * len(items)
    texts = items if found == _TEXT else [item for item in items if type(item) is str]
    return 8 * len(items) + sum(map(len, texts))


def weigh_keys(keys: Collection[str]) -> int:
    """What the keys of some members weigh together."""
    return 8 * len(keys) + sum(map(len, keys))


def _leaf_weight(value: Any) -> int:
    size = getattr(value, "nbytes", None)  # an array
    return 2 * size if isinstance(size, int) else _LEAF
