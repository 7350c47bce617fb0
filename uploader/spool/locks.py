"""One user for a folder: an flock on a file in it, which the operating system lets go when the process ends.

A folder is removed by its user, together with the lock file. Whoever opened that file before would then hold a lock on
a file that is in no folder; so a lock counts only if the file it is on is still the one at that path.

A child inherits its parent's open files, and with them its locks, which last until all have closed them. So a child
closes them at once: nobody has to wait for it when the parent has ended.
"""

import os
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Final

from uploader.clock import get_clock
from uploader.errors import SpoolError, SpoolLockedError
from uploader.spool.names import LOCK

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock
    _can_lock = False
else:
    _can_lock = True

_ATTEMPTS: Final = 4
_PAUSE_S: Final = 0.005  # `is_locked` holds a lock for some microseconds


class FolderLock:
    """The lock on a folder, held from its making until `release`.

    Raises:
        SpoolLockedError: another process, or another part of this one, uses the folder.
        OSError: the lock file cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._descriptor: int | None = None
        for attempt in range(_ATTEMPTS):
            if attempt:
                get_clock().sleep(_PAUSE_S, threading.Event())
            descriptor = _take(folder / LOCK, create=True)
            if descriptor is not None:
                self._descriptor = descriptor
                _held.add(self)
                return
        raise SpoolLockedError(str(folder), "another process uses this folder")

    @property
    def is_held(self) -> bool:
        """Whether it was neither released nor, by a fork, left to the parent."""
        return self._descriptor is not None

    def release(self) -> None:
        """Let the folder go, also where a child still has the file open."""
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.abandon()

    def abandon(self) -> None:
        """Close the file, in a child after a fork: its parent keeps the lock."""
        descriptor, self._descriptor = self._descriptor, None
        _held.discard(self)
        if descriptor is not None:
            os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether somebody uses a folder now; a folder without a lock file is not in use.

    Raises:
        OSError: the lock file cannot be looked at.
    """
    if not _can_lock or not os.path.exists(folder / LOCK):
        return False
    descriptor = _take(folder / LOCK, create=False)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def _take(path: Path, *, create: bool) -> int | None:
    """A descriptor that holds the lock on the file at this path; None if somebody else does."""
    if not _can_lock:  # pragma: no cover - Windows
        raise SpoolError(str(path), "this system has no file locks: use a spool of None")
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0), 0o600)
        kept = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                kept = True
                return descriptor
            # Its user has removed it meanwhile: look again at what is there now.
        except BlockingIOError:
            return None
        finally:
            if not kept:
                os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


_held: "weakref.WeakSet[FolderLock]" = weakref.WeakSet()


def _abandon_all() -> None:
    for lock in list(_held):
        with suppress(OSError):  # somebody closed all files already, as daemons do
            lock.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
