"""Rows of items that the compiled part writes, one call for many."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from encoder.compiled import native
from encoder.floats import TABLE_DECIMALS
from encoder.writers.base import Run
from encoder.writers.calls import dumps_alone
from encoder.writers.gather import ItemGatherer

if TYPE_CHECKING:
    from encoder._native import Node

# What a row costs before its last item, and what one item may cost, in the nanoseconds that `native/node.h` counts: a
# quarter of a millisecond may pass without a moment to give way.
ROW_COST: Final = 64 * 1024
ITEM_COST: Final = 256 * 1024

# After an item that has no text by its node, so many are not tried; twice as many after the next one.
_MOST_SKIPPED: Final = 64


class Rows:
    """Writes the items of one list by a node."""

    __slots__ = ("_gatherer", "_items", "_node", "_run", "_skipped", "_stop")

    def __init__(self, node: "Node", items: list[Any], stop: int, run: Run, gatherer: ItemGatherer) -> None:
        """Args: of the items, the list, the index behind the last, the run, what gathers those without a text."""
        self._node = node
        self._items = items
        self._stop = stop
        self._run = run
        self._gatherer = gatherer
        self._skipped = 0

    def end_of_skipped(self, start: int) -> int:
        """Up to where items from an index on are not tried."""
        return min(start + self._skipped, self._stop)

    def write(self, index: int) -> Generator[None, None, int]:
        """Write items from an index on, and return the index of the first that has no text by the node."""
        run = self._run
        text_of = run.block.floats_text if run.block.takes_floats else None
        while index < self._stop:
            text, end = native.write_row(
                self._node,
                self._items,
                index,
                self._stop,
                ROW_COST,
                ITEM_COST,
                run.lengths,
                dumps_alone,
                text_of,
                run.block.decimals == TABLE_DECIMALS,
            )
            if end == index:
                self._skipped = min(2 * self._skipped + 1, _MOST_SKIPPED)
                break
            self._skipped = 0
            self._gatherer.write(text)
            index = end
            yield None
        return index
