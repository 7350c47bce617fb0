"""Threads that are started once, by whoever comes first; only those that must know whether they run wait for that."""

import threading
import time
from collections.abc import Callable
from typing import Final

from uploader.worker.starting import start_soon

_LONGEST_S: Final = 1.0
_LOOK_AGAIN_S: Final = 0.001


class Beginning:
    """Has threads started, once, whichever thread it is that asks, and again where none was to be had.

    A forked child needs a new one.

    Attributes:
        begun: whether they are started, or about to be.
    """

    def __init__(self) -> None:
        self.begun = False
        self._first = threading.Lock()  # taken by whoever begins, and never let go
        self._thread = 0

    def begin(self, *starts: Callable[[], object]) -> None:
        """Have them started, unless they are; it waits for nothing.

        Args:
            *starts: each starts one.

        Raises:
            RuntimeError: no thread is to be had now; the next call tries again.
        """
        if self.begun or not self._first.acquire(blocking=False):
            return
        self._thread = threading.get_ident()
        try:
            start_soon(*starts)
        except BaseException:
            self._first.release()
            raise
        self.begun = True

    def has_begun(self) -> bool:
        """Whether they are started; while another thread is at it, wait until it has done so.

        Whoever waits for what the threads do asks this: in Python 3.12.0 and 3.12.1 to start them takes milliseconds. A
        signal handler that interrupted `begin` would wait for itself: it is told at once that they are not.
        """
        deadline_s = time.monotonic() + _LONGEST_S
        while not self.begun and self._is_at_it() and time.monotonic() < deadline_s:
            time.sleep(_LOOK_AGAIN_S)
        return self.begun

    def _is_at_it(self) -> bool:
        """Whether another thread is just starting them."""
        return self._first.locked() and self._thread != threading.get_ident()
