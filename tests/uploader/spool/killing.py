"""A process that is killed between two system calls, played within this one.

`Killing` stands in the place of the module `os` in the spool's modules. It lets the first calls through, and at the
next one the process is dead: that call, and all that the dying code tries after it, raise `Killed` and do nothing. Then
the files that it had open are closed, as the operating system does, which lets its locks go.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from uploader.spool import locks

CALLS = frozenset(
    {"close", "fsync", "listdir", "mkdir", "open", "read", "replace", "rmdir", "stat", "statvfs", "unlink", "write"}
)


class Killed(BaseException):
    """The process is dead."""


class Killing:
    """The module `os` of a process that dies after a number of calls.

    Args:
        calls: how many calls are let through.
        half: whether a write that is not let through any more has written its first half.
    """

    def __init__(self, calls: int, *, half: bool = False) -> None:
        self._left = calls
        self._half = half
        self._open: set[int] = set()
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments: Any, **options: Any) -> Any:
            if self._left <= 0:
                if not self.is_dead and self._half and name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                self.is_dead = True
                raise Killed
            self._left -= 1
            result: Any = None if name == "fsync" else real(*arguments, **options)  # a kill takes nothing from the disk
            if name == "open":
                self._open.add(result)
            elif name == "close":
                self._open.discard(arguments[0])
            return result

        return call

    def bury(self) -> None:
        """Close what the dead process had open, and forget its locks: this process goes on."""
        for lock in list(locks._held):
            if lock._descriptor in self._open:
                lock._descriptor = None
                locks._held.discard(lock)
        for descriptor in self._open:
            os.close(descriptor)
        self._open.clear()


@contextmanager
def killed_after(calls: int, monkeypatch: pytest.MonkeyPatch, *, half: bool = False) -> Iterator[Killing]:
    """Let the code in the block be killed after a number of system calls; it may also end before."""
    killing = Killing(calls, half=half)
    with monkeypatch.context() as patch:
        for module in ("files", "locks"):
            patch.setattr(f"uploader.spool.{module}.os", killing)
        try:
            yield killing
        except Killed:
            assert killing.is_dead
    killing.bury()
