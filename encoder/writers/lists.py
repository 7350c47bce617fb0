"""Declared lists: item by item, each as its declared type, light neighbours by one call."""

from collections.abc import Generator, Iterable
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final

from encoder.compiled import native
from encoder.filters import WHOLE, IndexFilter, Kept, Unclear
from encoder.writers.base import (
    CONTAINER_WEIGHT,
    HEAVY,
    MAX_WEIGHT,
    SCALAR_WEIGHT,
    UNKNOWN,
    LazySerializer,
    Run,
    Steps,
    Variant,
    Writer,
)
from encoder.writers.gather import ItemGatherer
from encoder.writers.left import UNWEIGHED, LeftItems
from encoder.writers.numbers import all_are, exact_text
from encoder.writers.rows import Nodes
from encoder.writers.scalars import ScalarWriter, TextWriter, unshared
from encoder.writers.weights import ROW, weigh_row

if TYPE_CHECKING:
    from encoder._native import Node

# Items of a list that may be simple as a whole; a longer one is worth steps.
_SMALL: Final = 256

_TEXT: Final = frozenset({str})

# Numbers written by one call: 4,096 floats take orjson some 100 microseconds.
_NUMBERS: Final = 4096


class ListWriter(Writer):
    """A list whose items have one declared type."""

    __slots__ = ("_exact", "_is_bounded", "_item", "_most", "_nodes", "_serializer")

    depth = 1

    def __init__(self, item: Writer, serializer: LazySerializer, *, simple: bool = True, bounded: bool = False) -> None:
        """Args: the items' writer, pydantic's serializer for lists of them, whether a list may have a simple form.

        The items are `bounded` if they are small whatever they are.
        """
        self._is_bounded = bounded
        self._item = item
        self._serializer = serializer
        self._exact = item.exact if simple and isinstance(item, ScalarWriter) else None
        self._most = _SMALL if simple else -1
        self._nodes = Nodes(item)

    def children(self) -> tuple[Writer, ...]:
        """The items' writer."""
        return (self._item,)

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]]:
        """All items, if they may hold a model."""
        if type(value) is not list or not self._item.children():
            return ()
        return zip(repeat(self._item), islice(value, len(value)), strict=False)

    def is_left(self) -> bool:
        """Whether items are."""
        return self._item.is_left()

    def are_simple(self, items: list[Any], run: Run) -> Generator[None, None, bool]:
        """Whether every item has a simple form, looked at in steps."""
        for start in range(0, len(items), UNWEIGHED):
            for item in items[start : start + UNWEIGHED]:
                written = self._item.simple(item, run)
                run.block.forget()
                if written is HEAVY or written is UNKNOWN:
                    return False
            yield None
        return True

    def simple(self, value: Any, run: Run) -> Any:
        """A list of the items' simple forms."""
        if type(value) is not list:
            return UNKNOWN
        if self._exact is not None:
            return self._simple_numbers(self._exact, value, run)
        length = run.length_of(value)
        if length > self._most or length * self._item.least_weight() > MAX_WEIGHT:
            return HEAVY
        limit = run.weight + MAX_WEIGHT
        simple = self._item.simple
        items = []
        for item in value[:length]:
            written = simple(item, run)
            if written is HEAVY or written is UNKNOWN or run.weight > limit:
                return HEAVY
            items.append(written)
        run.weight += CONTAINER_WEIGHT + SCALAR_WEIGHT * len(items)
        return items

    def _simple_numbers(self, exact: type, value: list[Any], run: Run) -> Any:
        """The list itself, not the text that told its type: orjson has to count it as a container."""
        length = run.length_of(value)
        if length > _NUMBERS:
            return HEAVY
        items = value[:length]
        if items and not all_are(exact, items):
            return HEAVY
        run.weight += 8 * len(items)
        return items

    def node(self, variant: Variant) -> "Node | None":
        """Lists of what the items' node knows."""
        inner = self._item.node(variant)
        return None if inner is None else native.items(inner)

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the list item by item."""
        if type(value) is not list:
            return None
        filter_ = None
        if include is not None or exclude is not None:
            try:
                filter_ = IndexFilter(include, exclude, run.length_of(value))
            except Unclear:
                return None
        return self._steps(value, run, filter_, depth)

    def _steps(self, value: list[Any], run: Run, filter_: IndexFilter | None, depth: int) -> Steps:
        run.enter(value, depth)
        run.out.append(b"[")
        gatherer = ItemGatherer(run, depth)
        left = LeftItems(self._serializer, run, gatherer, depth, self._is_bounded)
        if filter_ is None and self._exact is not None:
            yield from self._numbers(self._exact, value, left)
        elif filter_ is None and type(self._item) is Writer:
            yield from left.all_of(value, run.length_of(value))
        elif filter_ is None:
            yield from self._whole_items(value, left)
        else:
            for index, item in enumerate(islice(value, run.length_of(value))):
                kept = filter_.of(index)
                if kept[0]:
                    yield from self._kept_item(index, item, kept, left)
        gatherer.flush()
        run.out.append(b"]")
        run.leave(value)
        yield None

    def _whole_items(self, value: list[Any], left: LeftItems) -> Steps:
        """Write every item as a whole."""
        run, gatherer = left.run, left.gatherer
        # As many items as there were when the list was reached; another thread may append meanwhile.
        length = run.length_of(value)
        rows = self._nodes.rows(run, gatherer, left.depth) if self._most > 0 else None
        if rows is not None:
            yield from rows.over(value, length, lambda start, end: self._gathered(value, start, end, left))
        else:
            start = (yield from self._rows(value, length, gatherer)) if type(self._item) is TextWriter else 0
            yield from self._gathered(value, start, length, left)

    def _gathered(self, value: list[Any], start: int, end: int, left: LeftItems) -> Steps:
        """Write items that are taken one by one, light neighbours by one call."""
        most = self._item.most_left()
        if most:
            yield from left.light(
                value, start, end, most, lambda index, item: self._large_item(index, item, WHOLE, True, left)
            )
            return
        simple = self._item.simple_in(left.run)
        items = zip(range(start, end), islice(value, start, end), strict=False)
        while found := left.gatherer.gather(items, simple):
            if found is True:
                yield None
                continue
            index, item, verdict = found
            stop = index if verdict is HEAVY else left.at_once.stop(value, index, end)
            if stop > index:
                yield from left.some(value[index:stop], index)
                yield None
                items = zip(range(stop, end), islice(value, stop, end), strict=False)
            else:
                yield from self._large_item(index, item, WHOLE, verdict is HEAVY, left)

    def _rows(self, value: list[Any], length: int, gatherer: ItemGatherer) -> Generator[None, None, int]:
        """Write rows of short texts, up to the first with something else in it; how many items these were."""
        for start in range(0, length, ROW):
            row = value[start : min(start + ROW, length)]
            weight = weigh_row(row, _TEXT)
            if not (self._most > 0 and 0 <= weight <= MAX_WEIGHT):
                return start
            if gatherer.extend(start, unshared(row), weight):
                yield None
        return length

    def _kept_item(self, index: int, item: Any, kept: Kept, left: LeftItems) -> Steps:
        """Write an item of which a filter said something."""
        run = left.run
        written: Any = UNKNOWN
        if kept is WHOLE:
            weight = run.weight
            written = self._item.simple(item, run)
            if written is not HEAVY and written is not UNKNOWN:
                if left.gatherer.add(index, written, run.weight - weight):
                    yield None
                return
            run.block.forget()
        yield from self._large_item(index, item, kept, written is HEAVY, left)

    def _large_item(self, index: int, item: Any, kept: Kept, heavy: bool, left: LeftItems) -> Steps:
        """Write an item that has no simple form: by steps of its own, or by what pydantic makes of it."""
        _, include, exclude = kept
        may_have = heavy or kept is not WHOLE
        steps = self._item.steps(item, left.run, include, exclude, left.depth + 1) if may_have else None
        if steps is None:
            yield from left.some([item], index, kept)
        else:
            left.gatherer.separate(index)
            yield index, steps

    def _numbers(self, exact: type, value: list[Any], left: LeftItems) -> Steps:
        """Numbers: many by one call."""
        end = left.run.length_of(value)  # another thread may append, or take some away
        for start in range(0, end, _NUMBERS):
            items = value[start : min(start + _NUMBERS, end)]
            if not items:
                return
            text = exact_text(exact, items)
            if text is not None:
                left.gatherer.write(text[1:-1])
            else:
                for first in range(0, len(items), UNWEIGHED):
                    yield from left.some(items[first : first + UNWEIGHED], start + first)
            yield None
