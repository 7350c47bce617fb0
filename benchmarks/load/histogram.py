"""The distribution of very many values in a little memory that does not grow."""

import math
from array import array
from typing import Final

_LEAST: Final = 1e-4
_GROWTH: Final = math.log(1.02)
_CELLS: Final = 1600
"""The last one begins at five billions, and holds all beyond: microseconds of hours."""

CURVE_PERCENTS: Final = (
    0.0,
    *map(float, range(5, 95, 5)),
    *map(float, range(95, 100)),
    99.5,
    99.9,
    99.95,
    99.99,
    100.0,
)


class Histogram:
    """Counts values in cells that are 2 % wide, from 0.0001 up; the worst is exact.

    Attributes:
        count: how many there were.
        total: their sum.
        worst: the largest; 0.0 if there was none.
    """

    __slots__ = ("_cells", "count", "total", "worst")

    def __init__(self) -> None:
        self._cells = array("Q", bytes(8 * _CELLS))
        self.count = 0
        self.total = 0.0
        self.worst = 0.0

    def add(self, value: float) -> None:
        """Count a value; one below 0.0 as that."""
        if value > _LEAST:
            cell = int(math.log(value / _LEAST) / _GROWTH) + 1
            self._cells[cell if cell < _CELLS else _CELLS - 1] += 1
            self.total += value
            if value > self.worst:
                self.worst = value
        else:
            self._cells[0] += 1
        self.count += 1

    def percentile(self, percent: float) -> float:
        """What `percent` of the values do not exceed, up to 2 % too much; 0.0 if there are none.

        Raises:
            ValueError: `percent` is not between 0 and 100.
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"{percent} is no percent: give 0 to 100")
        rank = max(1, math.ceil(self.count * percent / 100))
        seen = 0
        for cell, values in enumerate(self._cells):
            seen += values
            if seen >= rank:
                is_last = cell == _CELLS - 1
                return self.worst if is_last else min(self.worst, _LEAST * math.exp(_GROWTH * cell))
        return 0.0

    def curve(self) -> list[tuple[float, float]]:
        """The cumulative distribution: percents, and what so many do not exceed."""
        return [(percent, round(self.percentile(percent), 4)) for percent in CURVE_PERCENTS]
