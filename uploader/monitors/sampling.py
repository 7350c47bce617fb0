"""A few of many records, each equally likely, chosen while they come and without knowing how many will.

Li's algorithm L: after the first ones it says at once how many to pass over, so that a list of ten thousand costs as
little as one of ten.
"""

import math
import random
from collections.abc import Iterator
from typing import Final

_BELOW_ONE: Final = math.nextafter(1.0, 0.0)
_NEVER: Final = 2**62


class Reservoir:
    """Chooses which of a stream's items take which of a few slots.

    Args:
        size: the number of slots.
        chance: where chance comes from.

    Attributes:
        seen: how many items there were.
    """

    def __init__(self, size: int, chance: random.Random) -> None:
        self._size = size
        self._chance = chance
        self._threshold = 1.0
        self._next = size - 1
        self.seen = 0

    def offer(self, count: int) -> Iterator[tuple[int, int]]:
        """Offer the next items.

        Args:
            count: how many.

        Yields:
            The place of one among these, and the slot that it takes; what had the slot before is no longer chosen.
        """
        start, self.seen = self.seen, self.seen + count
        for item in range(start, min(self.seen, self._size)):
            yield item - start, item
            if item == self._size - 1:
                self._pass_over()
        while self._size - 1 < self._next < self.seen:
            yield self._next - start, self._chance.randrange(self._size)
            self._pass_over()

    def _pass_over(self) -> None:
        self._threshold *= math.exp(math.log(1.0 - self._chance.random()) / self._size)
        # A threshold too near to 1, or to 0, would have no logarithm, or be divided by.
        rarity = math.log1p(-min(self._threshold, _BELOW_ONE)) or -math.ulp(0.0)
        passed = math.log(1.0 - self._chance.random()) / rarity
        self._next += 1 + (math.floor(passed) if passed < _NEVER else _NEVER)
