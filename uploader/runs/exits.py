"""Runs that nobody finished when the interpreter exits; and runs in a forked child.

Hooks at exit are all there is: no signal handler is ever replaced. Children of `multiprocessing`, forked or spawned,
leave without those of `atexit`; they have their own.
"""

import atexit
import os
import sys
from typing import Final, Protocol


class Open(Protocol):
    """A run that is not finished."""

    def finish_at_exit(self) -> None:
        """Close it, within its time; it raises nothing but what ends the process."""

    def after_fork(self) -> None:
        """Begin anew, in a forked child: locks may be held for ever, and threads are gone."""


_open: Final[dict[int, Open]] = {}


class _Anchor:
    """Lives as long as the process: `multiprocessing` keeps only weak references."""


_anchor: Final = _Anchor()


def watch(run: Open) -> None:
    """Have a run closed at exit, until `forget`."""
    _open[id(run)] = run
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _finish_before_child_leaves(_anchor)


def forget(run: Open) -> None:
    """It is closed."""
    _open.pop(id(run), None)


def _finish_all() -> None:
    for run in list(_open.values()):
        run.finish_at_exit()


def _finish_before_child_leaves(anchor: object) -> None:
    from multiprocessing import util  # is there already: this is its child

    util.Finalize(None, _finish_all, exitpriority=0)


def _after_fork() -> None:
    for run in list(_open.values()):
        run.after_fork()
    util = sys.modules.get("multiprocessing.util")
    if util is not None and _open:  # a child of multiprocessing forgets all such hooks first, and calls this one then
        util.register_after_fork(_anchor, _finish_before_child_leaves)


atexit.register(_finish_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
