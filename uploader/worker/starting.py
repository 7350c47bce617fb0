"""Threads that are being started when the interpreter ends are started before it does.

From 3.12.2 on none can be started after that: what was submitted just before would neither be encoded nor kept. (In
3.12.0 and 3.12.1 none can as soon as the main thread ends, and nothing helps.)
"""

import threading
from typing import Final

_LONGEST_S: Final = 1.0

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
