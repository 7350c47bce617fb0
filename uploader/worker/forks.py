"""A forked child's workers start empty: with locks of their own, without threads, and with nothing of the parent's."""

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    """Something that a child must begin anew, or let go of."""

    def after_fork(self) -> None:
        """Do so. The child has one thread, and any lock may be held for ever."""


_known: "weakref.WeakSet[Forked]" = weakref.WeakSet()


def begin_anew_after_fork(worker: Forked) -> None:
    """Have a worker begin anew in every child that is forked while it lives."""
    _known.add(worker)


def _after_fork() -> None:
    for worker in list(_known):
        worker.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
