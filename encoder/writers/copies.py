"""Tuples and sets: large ones as lists of the same items, small ones whole by pydantic."""

from collections.abc import Iterable
from typing import Any

from encoder.writers.base import HEAVY, UNKNOWN, Run, Steps, Writer
from encoder.writers.lists import ListWriter
from encoder.writers.snapshots import items_of


class CopiedWriter(Writer):
    """Values of one exact type that hold any number of items of one declared type."""

    __slots__ = ("_exact", "_list")

    def __init__(self, exact: type, items: ListWriter) -> None:
        """Args: tuple, set or frozenset; the writer of lists of such items."""
        self._exact = exact
        self._list = items

    def children(self) -> tuple[Writer, ...]:
        """The writer of lists of the items."""
        return (self._list,)

    def is_left(self) -> bool:
        """Small ones are."""
        return True

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """The items as a list, if they may hold a model."""
        (item,) = self._list.children()
        may_hold = type(value) is self._exact and bool(item.children())
        return ((self._list, list(value)),) if may_hold else ()

    def simple(self, value: Any, run: Run) -> Any:
        """None of them has a simple form."""
        return HEAVY if type(value) is self._exact else UNKNOWN

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the items one by one; of a filtered value pydantic makes what it makes."""
        if type(value) is not self._exact or include is not None or exclude is not None:
            return None
        return self._steps(value, run, depth)

    def _steps(self, value: Any, run: Run, depth: int) -> Steps:
        run.enter(value, depth)
        items = yield from items_of(value)
        steps = self._list.steps(items, run, None, None, depth)
        if steps is not None:
            yield from steps
        run.leave(value)
