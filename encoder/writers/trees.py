"""Trees of JSON's own types: what pydantic has dumped, and what stands so under `Any` already."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final, Protocol

from encoder.compiled import native
from encoder.writers.base import (
    KEYS_AT_ONCE,
    MAX_WEIGHT,
    TEXT_SLICE,
    Label,
    Run,
    Steps,
    Unwritable,
)
from encoder.writers.calls import dumps
from encoder.writers.gather import ItemGatherer, MemberGatherer
from encoder.writers.rows import Rows
from encoder.writers.scalars import write_text
from encoder.writers.snapshots import items_of, keys_of, members_of
from encoder.writers.weights import FOREIGN, ROW, SCALARS, weigh, weigh_keys, weigh_row

# Containers that are walked where they stand under `Any`: JSON's own and what becomes an array.
WALKED: Final = frozenset({dict, list, tuple, set, frozenset})


class Foreign(Protocol):
    """What is done with a value under `Any` that is none of JSON's own types."""

    def tree(self, value: Any, run: Run, depth: int) -> Any:
        """The tree that pydantic makes of it, inside of `depth` containers."""
        ...

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """The steps that write it, if there are any."""
        ...


def write_tree(value: Any, run: Run, depth: int, foreign: Foreign | None = None) -> Steps:
    """Write a tree of any size in short steps.

    Args:
        value: the tree.
        run: the state of this encoding.
        depth: the containers that the tree stands in.
        foreign: writes whatever is not of JSON's own types; None where the tree has been dumped before, and orjson is
            to be asked as it is for the whole record.
    """
    kind = type(value)
    if kind is str and len(value) > TEXT_SLICE:
        yield from write_text(value, run)
    elif kind is dict:
        yield from _write_dict(value, run, depth, foreign)
    elif kind is list or (kind in WALKED and foreign is not None):
        yield from _write_items(value, run, depth, foreign)
    else:
        yield from _write_leaf(value, run, depth, foreign)


def _write_dict(value: dict[Any, Any], run: Run, depth: int, foreign: Foreign | None) -> Steps:
    """Write a dict whose keys are all of one type member by member, any other as a whole."""
    length = len(value)
    key_types: set[type] = {str} if not length else set()
    for some in keys_of(value, length):
        key_types.update(map(type, some))
        if len(key_types) > 1:
            break
        if len(some) == KEYS_AT_ONCE:
            yield None
    if key_types == {str} or (key_types == {int} and foreign is not None):
        members = members_of(value, length)
        if key_types == {int}:
            members = ((str(key), item) for key, item in members)
        yield from _write_members(value, iter(members), run, depth, foreign)
    else:
        yield from _write_leaf(value, run, depth, foreign)


def _write_members(
    value: object, members: Iterator[tuple[str, Any]], run: Run, depth: int, foreign: Foreign | None
) -> Steps:
    """Write the members of a dict: rows of numbers and text by one call, from the first other one on each as it is."""
    run.enter(value, depth)
    run.out.append(b"{")
    gatherer = MemberGatherer(run, depth)
    while row := dict(islice(members, ROW)):
        weight, keys = weigh_row(row.values()), weigh_keys(row)
        if not 0 <= weight <= MAX_WEIGHT - keys:
            members = chain(row.items(), members)
            if run.is_native:
                yield from _write_member_rows(members, run, depth, foreign, gatherer)
            else:
                yield from _write_each(members, run, depth, foreign, gatherer)
        elif gatherer.extend(row, weight + keys):
            yield None
    gatherer.flush()
    run.out.append(b"}")
    run.leave(value)
    yield None


def _write_member_rows(
    members: Iterator[tuple[str, Any]], run: Run, depth: int, foreign: Foreign | None, gatherer: MemberGatherer
) -> Steps:
    """Write members: rows of JSON's own types by the compiled part, others each as it is."""
    rows = Rows(native.anything(), run, gatherer, depth)
    while row := tuple(islice(members, ROW)):

        def others(start: int, end: int, row: tuple[tuple[str, Any], ...] = row) -> Steps:
            return _write_each(row[start:end], run, depth, foreign, gatherer)

        keys = [key for key, _ in row]
        yield from rows.over([item for _, item in row], len(row), others, keys=keys)


def _write_items(value: Any, run: Run, depth: int, foreign: Foreign | None) -> Steps:
    """Write what becomes a list: rows of numbers and text by one call, from the first other one on each as it is."""
    items = value if type(value) in (list, tuple) else (yield from items_of(value))
    run.enter(value, depth)
    run.out.append(b"[")
    gatherer = ItemGatherer(run, depth)
    length = len(items)
    for start in range(0, length, ROW):
        row = items[start : min(start + ROW, length)]
        weight = weigh_row(row)
        if not 0 <= weight <= MAX_WEIGHT and run.is_native and type(items) is list:
            yield from _write_rows(items, start, run, depth, foreign, gatherer)
            break
        if not 0 <= weight <= MAX_WEIGHT:
            rest = zip(range(start, length), islice(items, start, length), strict=False)
            yield from _write_each(rest, run, depth, foreign, gatherer)
            break
        if gatherer.extend(start, row, weight):
            yield None
    gatherer.flush()
    run.out.append(b"]")
    run.leave(value)
    yield None


def _write_rows(
    items: list[Any], start: int, run: Run, depth: int, foreign: Foreign | None, gatherer: ItemGatherer
) -> Steps:
    """Write items from an index on: rows of JSON's own types by the compiled part, others each as it is."""

    def others(first: int, end: int) -> Steps:
        return _write_each(enumerate(items[first:end], first), run, depth, foreign, gatherer)

    yield from Rows(native.anything(), run, gatherer, depth).over(items, len(items), others, start)


def _write_leaf(value: Any, run: Run, depth: int, foreign: Foreign | None) -> Steps:
    """Write what cannot be taken apart by one call, or what pydantic makes of it."""
    if foreign is None or type(value) is str or type(value) in SCALARS:
        run.out.append(dumps(value, depth))
        yield None
    else:
        yield from write_tree(foreign.tree(value, run, depth), run, depth)


def _write_each(
    items: Iterable[tuple[Any, Any]],
    run: Run,
    depth: int,
    foreign: Foreign | None,
    gatherer: MemberGatherer | ItemGatherer,
) -> Steps:
    """Write members or items: light neighbours by one call, heavy ones by steps of their own."""
    for label, member in items:
        item = member
        room = weigh(item, MAX_WEIGHT, strict=foreign is not None)
        steps: Steps | None = None
        is_due = False
        if room == FOREIGN and foreign is not None:
            gatherer.flush()  # a serializer of the user's may change what is held
            steps = foreign.steps(item, run, None, None, depth + 1)
            if steps is None:
                item = _dumped(label, item, foreign, run, depth + 1)
                is_due = True
                room = weigh(item, MAX_WEIGHT)
                steps = write_tree(item, run, depth + 1) if room < 0 else None
        elif room < 0:
            steps = write_tree(item, run, depth + 1, foreign)
        if steps is not None:
            gatherer.separate(label)
            yield label, steps
        elif gatherer.add(label, item, MAX_WEIGHT - room) or is_due:
            yield None


def _dumped(label: Label, item: Any, foreign: Foreign, run: Run, depth: int) -> Any:
    """What is made of a foreign item; an error is told by the item's position."""
    try:
        return foreign.tree(item, run, depth)
    except Unwritable as error:
        raise Unwritable((label, *error.tail)) from error.__cause__
