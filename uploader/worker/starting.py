"""Threads that are being started when the interpreter ends are started before it does.

From 3.12.2 on none can be started after that: what was submitted just before would neither be encoded nor kept. In
3.12.0 and 3.12.1 none can as soon as the main thread ends: there whoever needs threads waits until they run.
"""

import _thread
import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

logger = logging.getLogger(__name__)

_AT_ONCE: Final = (3, 12) <= sys.version_info < (3, 12, 2)
_LONGEST_S: Final = 1.0
_AGAIN_S: Final = 0.5

_starting: Final[set[threading.Event]] = set()


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
    left = _not_started(starts) if _AT_ONCE else list(starts)
    if not left:
        return
    started = threading.Event()

    def start_all() -> None:
        still = left
        while still := _not_started(still, is_said=still is not left):
            time.sleep(_AGAIN_S)
        started.set()
        _starting.discard(started)

    _starting.add(started)
    try:
        _thread.start_new_thread(start_all, ())
    except RuntimeError:
        _starting.discard(started)
        raise


def _not_started(starts: Sequence[Callable[[], object]], *, is_said: bool = False) -> list[Callable[[], object]]:
    """Start them, and return those from the first on for which no thread is to be had."""
    for number, start in enumerate(starts):
        try:
            start()
        except RuntimeError as error:
            if not is_said:
                logger.error("A thread cannot be started now: %s", error)
            return list(starts[number:])
    return []
