"""Declared dicts with plain keys: member by member, each value as its declared type, light neighbours by one call."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from encoder.compiled import native
from encoder.writers.base import (
    CONTAINER_WEIGHT,
    HEAVY,
    KEYS_AT_ONCE,
    LEFT_WEIGHT,
    MAX_WEIGHT,
    SCALAR_WEIGHT,
    UNKNOWN,
    LazySerializer,
    Run,
    Steps,
    Variant,
    Writer,
)
from encoder.writers.calls import dumped, is_writable_key
from encoder.writers.gather import MemberGatherer
from encoder.writers.left import LeftMembers, Member
from encoder.writers.rows import Nodes, Rows
from encoder.writers.scalars import ScalarWriter, TextWriter, unshared
from encoder.writers.snapshots import keys_of, members_of
from encoder.writers.trees import write_tree
from encoder.writers.weights import ROW, weigh_keys, weigh_row

if TYPE_CHECKING:
    from encoder._native import Node

# Members of a dict that may be simple as a whole; a larger one is worth steps.
_SMALL: Final = 256


class DictWriter(Writer):
    """A dict with keys declared as text or integers, and values of one declared type."""

    __slots__ = ("_is_bounded", "_is_plain", "_most", "_nodes", "_plain", "_serializer", "_value")

    depth = 1

    def __init__(
        self, key: type, value: Writer, serializer: LazySerializer, *, simple: bool = True, bounded: bool = False
    ) -> None:
        """Args: the keys' type, the values' writer, pydantic's serializer, whether a dict may have a simple form.

        The values are `bounded` if they are small whatever they are.
        """
        self._is_bounded = bounded
        # Whether a key becomes text that no other key becomes.
        self._is_plain = is_writable_key if key is str else _is_integer
        self._value = value
        self._serializer = serializer
        self._most = _SMALL if simple else -1
        # The exact type of values that rows of members may be written of by one call.
        self._plain: frozenset[type] = frozenset()
        self._nodes = Nodes(value)
        if simple and isinstance(value, ScalarWriter | TextWriter):
            self._plain = frozenset({value.exact if isinstance(value, ScalarWriter) else str})

    def children(self) -> tuple[Writer, ...]:
        """The values' writer."""
        return (self._value,)

    def is_left(self) -> bool:
        """Whether values are."""
        return self._value.is_left()

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]]:
        """All values, if they may hold a model."""
        if type(value) is not dict or not self._value.children():
            return ()
        return ((self._value, item) for _, item in members_of(value, len(value)))

    def simple(self, value: Any, run: Run) -> Any:
        """A dict of the values' simple forms."""
        if type(value) is not dict:
            return UNKNOWN
        if len(value) > self._most:
            return HEAVY
        limit = run.weight + MAX_WEIGHT
        simple = self._value.simple
        members = {}
        is_plain = self._is_plain
        for key, item in value.copy().items():  # another thread may add some
            # The common case first: ASCII text.
            if type(key) is str and is_plain is is_writable_key and key.isascii():
                text = key
            elif is_plain(key):
                text = str(key)
            else:
                return UNKNOWN
            written = simple(item, run)
            run.weight += len(text) + SCALAR_WEIGHT
            if written is HEAVY or written is UNKNOWN or run.weight > limit:
                return HEAVY
            members[text] = written
        run.weight += CONTAINER_WEIGHT
        return members

    def node(self, variant: Variant) -> "Node | None":
        """Dicts with texts for keys."""
        inner = self._value.node(variant) if self._is_plain is is_writable_key else None
        return None if inner is None else native.members(inner)

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the dict member by member; a filtered one is pydantic's."""
        if type(value) is not dict or include is not None or exclude is not None:
            return None
        return self._steps(value, run, depth)

    def _steps(self, value: dict[Any, Any], run: Run, depth: int) -> Steps:
        run.enter(value, depth)
        length = len(value)
        for some in keys_of(value, length):
            if not self._are_plain(some):
                # Keys that pydantic would change may become equal to others: such a dict cannot be split.
                run.leave(value)
                yield from write_tree(dumped(self._serializer(), value.copy(), run), run, depth)
                return
            if len(some) == KEYS_AT_ONCE:
                yield None
        run.out.append(b"{")
        gatherer = MemberGatherer(run, depth)
        members = iter(members_of(value, length))
        if self._plain:
            members = yield from self._rows(members, self._plain, gatherer)
        left = LeftMembers(self._serializer, run, gatherer, depth, self._is_bounded)
        rows = self._nodes.rows(run, gatherer, depth) if self._most > 0 else None
        if rows is None:
            while row := tuple(islice(members, ROW)):
                yield from self._each(row, run, gatherer, left, depth)
        else:
            yield from self._in_rows(rows, members, run, gatherer, left, depth)
        gatherer.flush()
        run.out.append(b"}")
        run.leave(value)
        yield None

    def _in_rows(
        self,
        rows: Rows,
        members: Iterator[tuple[Any, Any]],
        run: Run,
        gatherer: MemberGatherer,
        left: LeftMembers,
        depth: int,
    ) -> Steps:
        """Write members: rows of those that the compiled part knows, others each as it is."""
        while row := tuple(islice(members, ROW)):

            def others(start: int, end: int, row: tuple[tuple[Any, Any], ...] = row) -> Steps:
                return self._each(row[start:end], run, gatherer, left, depth)

            keys = [str(name) for name, _ in row]
            yield from rows.over([item for _, item in row], len(row), others, keys=keys)

    def _each(
        self, members: Sequence[Member], run: Run, gatherer: MemberGatherer, left: LeftMembers, depth: int
    ) -> Steps:
        """Write members that are taken one by one, light neighbours by one call."""
        most_heavy = self._value.most_left()
        values = [item for _, item in members]
        index, end = 0, len(members)
        while index < end:
            name, item = members[index]
            key = str(name)
            weight = run.weight
            written = self._value.simple(item, run)
            if written is not HEAVY and written is not UNKNOWN:
                if gatherer.add(key, written, run.weight - weight + len(key)):
                    yield None
                index += 1
                continue
            run.block.forget()
            most = most_heavy if written is HEAVY else LEFT_WEIGHT
            stop = left.at_once.stop(values, index, end, most) if most else index
            if stop > index:
                yield from left.some(members[index:stop], index)
                yield None
                index = stop
                continue
            index += 1
            steps = self._value.steps(item, run, None, None, depth + 1) if written is HEAVY else None
            gatherer.separate(key)
            if steps is None:
                tree = dumped(self._serializer(), {name: item}, run)[key]
                steps = write_tree(tree, run, depth + 1)
            yield key, steps

    def _are_plain(self, keys: tuple[Any, ...]) -> bool:
        """Whether each of some keys becomes text that no other key becomes."""
        # The common case first, without a call for each: ASCII text.
        is_text = self._is_plain is is_writable_key and set(map(type, keys)) == {str}
        return (is_text and "".join(keys).isascii()) or all(map(self._is_plain, keys))

    def _rows(
        self, members: Iterator[tuple[Any, Any]], plain: frozenset[type], gatherer: MemberGatherer
    ) -> Generator[None, None, Iterator[tuple[Any, Any]]]:
        """Write rows of numbers or short texts, up to the first with something else in it; the members left over."""
        while row := dict(islice(members, ROW)):
            names = row if self._is_plain is is_writable_key else list(map(str, row))
            names_weight = weigh_keys(names)
            weight = weigh_row(row.values(), plain)
            if not 0 <= weight <= MAX_WEIGHT - names_weight:
                return chain(row.items(), members)
            if names is not row or str in plain:
                values = unshared(row.values()) if str in plain else row.values()
                row = dict(zip(names, values, strict=True))
            if gatherer.extend(row, weight + names_weight):
                yield None
        return members


def _is_integer(key: object) -> bool:
    return type(key) is int
