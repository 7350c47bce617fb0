"""What is written of containers that another thread may change meanwhile.

A dict is written up to the number of keys that it had when it was reached, each value as it is when its turn comes, and
a set with the items that it had at one moment. A list is written up to the length that it had when it was reached;
those of a model that counts what is in them (`Hook`) up to the lengths that they had when the model was reached, all of
them at one moment, so that its parts and its counts agree.
"""

from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from encoder.writers.base import KEYS_AT_ONCE

# Stands for the value of a key that is not in its dict any more.
_GONE: Final = object()


def keys_of(value: dict[Any, Any], length: int) -> Iterator[tuple[Any, ...]]:
    """The first keys of a dict in slices, to be looked at; they start anew where another thread has changed it."""
    keys = iter(value)
    left = length
    while left > 0:
        try:
            some = tuple(islice(keys, min(left, KEYS_AT_ONCE)))
        except RuntimeError:
            keys, left = iter(tuple(value)), length  # by one call: a million take 5 ms
            continue
        if not some:
            return
        left -= len(some)
        yield some


def members_of(value: dict[Any, Any], length: int) -> Iterable[tuple[Any, Any]]:
    """The first members of a dict; of a small one as they are now."""
    if length <= KEYS_AT_ONCE:
        return islice(value.copy().items(), length)
    return _many_members(value, length)


def _many_members(value: dict[Any, Any], length: int) -> Iterator[tuple[Any, Any]]:
    last: tuple[Any, Any] | None = None
    try:
        for member in islice(value.items(), length):
            last = member
            yield member
        return
    except RuntimeError:
        # Another thread has added some at the end, or removed some: go on after the last one, with keys of our own.
        keys = tuple(value)
        if last is not None and last[0] not in value:
            raise
    start = 0 if last is None else keys.index(last[0]) + 1
    for key in islice(keys, start, length):
        item = value.get(key, _GONE)
        if item is not _GONE:
            yield key, item


def items_of(value: set[Any] | frozenset[Any]) -> Generator[None, None, list[Any]]:
    """The items of a set, as they were at one moment."""
    found: list[Any] = []
    items = iter(value)
    try:
        while some := tuple(islice(items, KEYS_AT_ONCE)):
            found += some
            if len(some) == KEYS_AT_ONCE:
                yield None
    except RuntimeError:
        return list(value)  # another thread has changed it
    return found


def lengths_of(values: Iterable[Any]) -> dict[int, int]:
    """The lengths of the lists among some values by their ids, all of one moment; the caller keeps the lists alive."""
    lists = [value for value in values if type(value) is list]
    return dict(zip(map(id, lists), map(len, lists), strict=False))  # one call: no other thread runs within it
