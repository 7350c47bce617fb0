"""Rows of items that the compiled part writes, one call for many."""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

import orjson

from encoder.compiled import native
from encoder.floats import TABLE_DECIMALS
from encoder.writers.base import MAX_DEPTH, Run, Steps, Variant, Writer
from encoder.writers.gather import ItemGatherer, MemberGatherer

if TYPE_CHECKING:
    from encoder._native import Node

# What a row costs before its last item, and what one item may cost, in the nanoseconds that `native/node.h` counts: a
# quarter of a millisecond may pass without a moment to give way.
ROW_COST: Final = 32 * 1024
ITEM_COST: Final = 288 * 1024

# After an item that has no text by its node, so many are not tried; twice as many after the next one.
_MOST_SKIPPED: Final = 64


class Nodes:
    """The nodes of the values of one writer: made when the first list or dict of them is written."""

    __slots__ = ("_made", "_writer")

    def __init__(self, writer: Writer) -> None:
        """Args: the writer of the values."""
        self._writer = writer
        self._made: dict[Variant, Node | None] = {}

    def rows(self, run: Run, gatherer: ItemGatherer | MemberGatherer, depth: int) -> "Rows | None":
        """What writes rows of the values inside of `depth` containers, where the compiled part may."""
        if not run.is_native:
            return None
        if run.variant not in self._made:
            self._made[run.variant] = self._writer.node(run.variant)
        node = self._made[run.variant]
        return None if node is None else Rows(node, run, gatherer, depth)


class Rows:
    """Writes items or members by a node."""

    __slots__ = ("_gatherer", "_most_depth", "_node", "_run", "_skipped")

    def __init__(self, node: "Node", run: Run, gatherer: ItemGatherer | MemberGatherer, depth: int) -> None:
        """Args: of the items, the run, what gathers items that have no text by it, the containers around theirs."""
        self._most_depth = MAX_DEPTH - 1 - depth
        self._node = node
        self._run = run
        self._gatherer = gatherer
        self._skipped = 0

    def over(
        self,
        items: list[Any],
        stop: int,
        others: Callable[[int, int], Steps],
        start: int = 0,
        keys: list[str] | None = None,
    ) -> Steps:
        """Write neighbours.

        Args:
            items: the list that they stand in.
            stop: the index behind the last.
            others: writes those between two indexes, of which the first has no text by the node.
            start: the index of the first.
            keys: for each item its key, in an object.
        """
        while start < stop:
            start = yield from self._write(items, start, stop, keys)
            end = min(start + self._skipped, stop)
            yield from others(start, end)
            start = end

    def _write(self, items: list[Any], start: int, stop: int, keys: list[str] | None) -> Generator[None, None, int]:
        """Write neighbours until one has no text; the index of that one."""
        run = self._run
        text_of = run.block.floats_text if run.block.takes_floats else None
        is_four = run.block.decimals == TABLE_DECIMALS
        while start < stop:
            text, end = native.write_row(
                self._node, items, keys, start, stop, ROW_COST, ITEM_COST, self._most_depth,
                run.lengths, orjson.dumps, text_of, is_four,
            )  # fmt: skip
            if end == start:
                self._skipped = min(2 * self._skipped + 1, _MOST_SKIPPED)
                break
            self._skipped = 0
            self._gatherer.write(text)
            start = end
            yield None
        return start
