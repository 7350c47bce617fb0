"""Runs that nobody finished when the interpreter exits; and runs in a forked child.

A hook at exit is all there is: no signal handler is ever replaced.
"""

import atexit
import os
from typing import Final, Protocol


class Open(Protocol):
    """A run that is not finished."""

    def finish_at_exit(self) -> None:
        """Close it, within its time; it raises nothing but what ends the process."""

    def after_fork(self) -> None:
        """Begin anew, in a forked child: locks may be held for ever, and threads are gone."""


_open: Final[dict[int, Open]] = {}


def watch(run: Open) -> None:
    """Have a run closed at exit, until `forget`."""
    _open[id(run)] = run


def forget(run: Open) -> None:
    """It is closed."""
    _open.pop(id(run), None)


def _finish_all() -> None:
    for run in list(_open.values()):
        run.finish_at_exit()


def _after_fork() -> None:
    for run in list(_open.values()):
        run.after_fork()


atexit.register(_finish_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
