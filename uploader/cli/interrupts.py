"""Ctrl-C that says what happens next."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_MESSAGE = b"\ninterrupted: requests in flight end first; Ctrl-C again stops at once\n"


@contextmanager
def announced_interrupts() -> Iterator[None]:
    """Answer the first Ctrl-C inside the `with` block with a line on standard error; it raises as ever."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # nothing to do; above all, whoever had the signal ignored (a shell, for a job) means it
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Not print: the signal may have come in the middle of one.
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, _MESSAGE)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
