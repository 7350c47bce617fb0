"""Figures over time, of which there are never more than so many: when they are full, neighbours become one."""

from array import array
from collections.abc import Callable, Mapping
from typing import Final

Merge = Callable[[float, float], float]

MOST_ROWS: Final = 600


def last(_: float, later: float) -> float:
    """Of two neighbours the later one."""
    return later


class Series:
    """Rows of figures.

    Args:
        merges: for each column, what two neighbouring values become: `max`, or `last`.
        most: the most rows; an even number.
    """

    def __init__(self, merges: Mapping[str, Merge], most: int = MOST_ROWS) -> None:
        self._merges = dict(merges)
        self._most = most
        self._columns = {name: array("d") for name in merges}
        self._of_a_row = 1
        self._pending: dict[str, float] = {}
        self._num_pending = 0

    def add(self, row: Mapping[str, float]) -> None:
        """Add a row with a value for each column."""
        if self._num_pending:
            row = {name: merge(self._pending[name], row[name]) for name, merge in self._merges.items()}
        self._pending = dict(row)
        self._num_pending += 1
        if self._num_pending < self._of_a_row:
            return
        for name, column in self._columns.items():
            column.append(self._pending[name])
        self._num_pending = 0
        if len(next(iter(self._columns.values()))) == self._most:
            self._halve()

    def _halve(self) -> None:
        for name, column in self._columns.items():
            merge = self._merges[name]
            pairs = zip(column[0::2], column[1::2], strict=True)
            self._columns[name] = array("d", [merge(one, other) for one, other in pairs])
        self._of_a_row *= 2

    def columns(self) -> dict[str, list[float]]:
        """Each column's values so far, what is not yet a whole row as the last."""
        found = {name: column.tolist() for name, column in self._columns.items()}
        if self._num_pending:
            for name, values in found.items():
                values.append(self._pending[name])
        return found
