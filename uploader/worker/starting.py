"""Threads that are being started when the interpreter ends are started before it does.

From 3.12.2 on none can be started after that: what was submitted just before would neither be encoded nor kept. (In
3.12.0 and 3.12.1 none can as soon as the main thread ends, and nothing helps.)
"""

import _thread
import logging
import threading
import time
from collections.abc import Callable
from typing import Final

logger = logging.getLogger(__name__)

_LONGEST_S: Final = 1.0
_AGAIN_S: Final = 0.5

_starting: Final[set[threading.Event]] = set()


def begins(started: threading.Event) -> None:
    """Have the interpreter's end wait, for a second at most, until this is set."""
    _starting.add(started)


def has_begun(started: threading.Event) -> None:
    """Set it."""
    started.set()
    _starting.discard(started)


def forget() -> None:
    """In a forked child: the threads that would have set these are the parent's."""
    _starting.clear()


def _wait() -> None:
    for started in list(_starting):
        started.wait(_LONGEST_S)


# What `concurrent.futures` uses to end its threads: hooks of `atexit` come too late.
_register = getattr(threading, "_register_atexit", None)
if _register is not None:
    _register(_wait)


def start_soon(*starts: Callable[[], object]) -> None:
    """Have threads started, without waiting until they run: that takes milliseconds where the interpreter is busy.

    Args:
        *starts: each starts one; called again later where it raises RuntimeError, as no thread is to be had.

    Raises:
        RuntimeError: not even the thread that would start them is to be had now.
    """
    started = threading.Event()

    def start_all() -> None:
        for start in starts:
            while not _is_started(start):
                time.sleep(_AGAIN_S)
        has_begun(started)

    begins(started)
    _thread.start_new_thread(start_all, ())


def _is_started(start: Callable[[], object]) -> bool:
    try:
        start()
    except RuntimeError as error:
        logger.error("A thread cannot be started now: %s", error)
        return False
    return True
