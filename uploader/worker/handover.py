"""The short queue between the encoder and the compressor, so that both work at once.

It holds a few megabytes of lines, or one line of any size. Only these two threads ever wait here.
"""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from uploader.models import LineFormat
from uploader.worker.barriers import Barrier

_MAX_BYTES: Final = 16 * 1024 * 1024
_MAX_LINES: Final = 256


@dataclass(slots=True)
class Line:
    """An encoded record.

    Attributes:
        line_format: what it is.
        pieces: its bytes, the LF included.
        size: how many they are.
        number: its place among the lines of its format, counted from 1.
    """

    line_format: LineFormat
    pieces: list[bytes]
    size: int
    number: int


class Handover:
    """Bounded; the one who puts waits while it is full.

    Args:
        max_bytes: the most bytes of lines that wait, unless it is a single line.
        max_lines: the most lines that wait.
    """

    def __init__(self, max_bytes: int = _MAX_BYTES, max_lines: int = _MAX_LINES) -> None:
        self._max_bytes = max_bytes
        self._max_lines = max_lines
        self._changed = threading.Condition()
        self._items: deque[Line | Barrier] = deque()
        self._lines = self._bytes = 0

    def put(self, line: Line) -> None:
        """Hand a line over, once there is room."""
        with self._changed:
            while self._lines and (self._bytes + line.size > self._max_bytes or self._lines >= self._max_lines):
                self._changed.wait()
            self._items.append(line)
            self._lines += 1
            self._bytes += line.size
            self._changed.notify_all()

    def put_barrier(self, barrier: Barrier) -> None:
        """Hand a barrier over; there is always room."""
        with self._changed:
            self._items.append(barrier)
            self._changed.notify_all()

    def get(self, timeout_s: float) -> Line | Barrier | None:
        """The next item; None if nothing came in time."""
        with self._changed:
            if not self._items:
                self._changed.wait(timeout_s)
            if not self._items:
                return None
            item = self._items.popleft()
            if isinstance(item, Line):
                self._lines -= 1
                self._bytes -= item.size
                self._changed.notify_all()
            return item

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._items
