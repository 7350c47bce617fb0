"""Bytes a second, over the last few seconds."""

import time
from collections import deque
from collections.abc import Callable
from typing import Final

_WINDOW_S: Final = 10


class Meter:
    """Counts bytes; one thread adds, any may read.

    Args:
        clock: seconds that only ever grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s = clock()
        self._seconds: deque[tuple[int, int]] = deque(maxlen=_WINDOW_S + 1)
        self.total = 0

    def add(self, size: int) -> None:
        """So many bytes went by."""
        self.total += size
        second = int(self._clock())
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1] = (second, self._seconds[-1][1] + size)
        else:
            self._seconds.append((second, size))

    @property
    def bytes_per_s(self) -> float:
        """The mean over the last ten seconds, or over all of a shorter life."""
        now_s = self._clock()
        recent = sum(size for second, size in tuple(self._seconds) if second > now_s - _WINDOW_S)
        return recent / min(_WINDOW_S, max(1.0, now_s - self._since_s))
