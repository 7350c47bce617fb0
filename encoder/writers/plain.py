"""Trees of JSON's own types: what pydantic has dumped, and what already stands so under `Any`."""

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import islice
from typing import Any, Final

from encoder.writers.base import (
    CONTAINER_WEIGHT,
    KEYS_AT_ONCE,
    MAX_DEPTH,
    MAX_WEIGHT,
    SCALAR_WEIGHT,
    TEXT_SLICE,
    Label,
    Run,
    Steps,
    TooDeepError,
    Unwritable,
)
from encoder.writers.calls import dumps
from encoder.writers.gather import ItemGatherer, MemberGatherer
from encoder.writers.scalars import write_text

# How deep a tree may be to be weighed by recursion; deeper ones are walked, one container at a time.
_WEIGHED_DEPTH: Final = 32

# What a value that is none of JSON's own types weighs: it is one leaf.
_LEAF: Final = 16

# The answers of `weigh` that are no remaining room.
TOO_HEAVY: Final = -1
FOREIGN: Final = -2

_SCALARS: Final = frozenset({int, float, bool, type(None)})
_TEXT: Final = frozenset({str})

# Items up to which each is looked at by itself.
_FEW: Final = 4


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
    if kind in _SCALARS:
        return room - SCALAR_WEIGHT if room >= SCALAR_WEIGHT else TOO_HEAVY
    if kind is dict or kind is list:
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
    members = tuple(value.items())
    for key, _ in members:
        if type(key) is str:
            room -= len(key)
        elif strict:
            return FOREIGN
    return _weigh_items([item for _, item in members], room, depth, strict)


def _weigh_items(items: Sequence[Any], room: int, depth: int, strict: bool) -> int:
    if len(items) > _FEW:
        kinds = set(map(type, items))
        if kinds <= _SCALARS:
            return room if room >= 0 else TOO_HEAVY  # counted with the container
        if kinds == _TEXT:
            room -= sum(map(len, items))
            return room if room >= 0 else TOO_HEAVY
    for item in items:
        room = weigh(item, room, depth - 1, strict=strict)
        if room < 0:
            return room
    return room


def _leaf_weight(value: Any) -> int:
    size = getattr(value, "nbytes", None)  # an array
    return 2 * size if isinstance(size, int) else _LEAF


# Dumps a value that is none of JSON's own types.
Foreign = Callable[[Any, Run], Any]


def write_tree(value: Any, run: Run, depth: int, foreign: Foreign | None = None) -> Steps:
    """Write a tree of any size in short steps.

    Args:
        value: the tree.
        run: the state of this encoding.
        depth: the containers that the tree stands in.
        foreign: turns whatever is not exactly one of JSON's own types into a tree that is; None where the tree has
            been dumped before, and orjson is to be asked as it is for the whole record.
    """
    kind = type(value)
    if kind is str and len(value) > TEXT_SLICE:
        yield from write_text(value, run)
    elif kind is dict and (yield from has_plain_keys(value)):
        yield from _write_container(members_of(value), run, depth, foreign, MemberGatherer(run, depth), b"{}")
    elif kind is list:
        yield from _write_container(
            enumerate(islice(value, len(value))), run, depth, foreign, ItemGatherer(run, depth), b"[]"
        )
    elif foreign is None or kind is str or kind in _SCALARS:
        run.out.append(dumps(value, depth))
        yield None
    else:
        yield from write_tree(foreign(value, run), run, depth)


def has_plain_keys(value: dict[Any, Any]) -> Generator[None, None, bool]:
    """Whether every key is exactly a str; looked at in slices, a million take 20 ms."""
    keys = iter(value)
    while taken := tuple(islice(keys, KEYS_AT_ONCE)):
        if set(map(type, taken)) != {str}:
            return False
        if len(taken) == KEYS_AT_ONCE:
            yield None
    return True


def members_of(value: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
    """The members of a dict; of a small one a copy, so that another thread may go on writing to it."""
    return tuple(value.items()) if len(value) <= KEYS_AT_ONCE else value.items()


def _write_container(
    items: Iterable[tuple[Any, Any]],
    run: Run,
    depth: int,
    foreign: Foreign | None,
    gatherer: MemberGatherer | ItemGatherer,
    brackets: bytes,
) -> Steps:
    """Write a dict or a list: light neighbours by one call, heavy items by steps of their own."""
    if depth >= MAX_DEPTH:
        raise TooDeepError
    run.out.append(brackets[:1])
    for label, value in items:
        item, convert = value, foreign
        room = weigh(item, MAX_WEIGHT, strict=convert is not None)
        if room == FOREIGN and convert is not None and type(item) not in (dict, list):
            gatherer.flush()  # a serializer of the user's may change what is held
            item, convert = _converted(label, item, convert, run), None
            room = weigh(item, MAX_WEIGHT)
        if room < 0:
            gatherer.separate(label)
            yield label, write_tree(item, run, depth + 1, convert)
        elif gatherer.add(label, item, MAX_WEIGHT - room):
            yield None
    gatherer.flush()
    run.out.append(brackets[1:])
    yield None


def _converted(label: Label, item: Any, convert: Foreign, run: Run) -> Any:
    """What is made of a foreign item; an error is told by the item's position."""
    try:
        return convert(item, run)
    except Unwritable as error:
        raise Unwritable((label, *error.tail)) from error.__cause__
