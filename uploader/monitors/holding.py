"""One monitor for a folder: two would cut each other's lines. It notes what is open, for the next one to mend."""

import errno
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from uploader.errors import SpoolLockedError
from uploader.monitors.mending import mend
from uploader.spool.locks import FolderLock
from uploader.spool.names import LOCK

_LOCK_FOLDER: Final = ".file-monitor"
"""The folder that holds the lock's file, and the note, while a monitor writes; a killed one leaves it behind."""

_NOTE: Final = "open"
_NOTE_PART: Final = "open.part"

_PATIENCE_S: Final = 0.4

_NO_LOCKS: Final = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL})
"""What file systems without locks say, some of clusters among them; there it is left to the user."""


class Holding:
    """The hold on a folder, taken when it is first needed; any thread may call it.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = root / _LOCK_FOLDER
        self._lock: FolderLock | None = None
        self._is_had = self._is_over = False
        self._mutex = threading.Lock()

    def take(self) -> None:
        """Have the folder, unless it is had already; what a killed process left in it of a line is cut off first.

        Raises:
            SpoolLockedError: another monitor writes there, in this process or another.
            OSError: the folder cannot be made.
        """
        if not self._is_had:
            with self._mutex:
                self._take_first()

    def _take_first(self) -> None:
        if self._is_had:  # another thread was faster
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        try:
            mend(self._root, self._noted())
        finally:
            self._is_had = True

    def _take_lock(self) -> None:
        if os.name == "nt":  # where there is no flock
            return
        try:
            self._lock = FolderLock(self._folder)
        except SpoolLockedError as error:
            raise SpoolLockedError(
                str(self._root), "another FileMonitor writes there: give each a folder of its own"
            ) from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise

    def _noted(self) -> list[str]:
        try:
            return (self._folder / _NOTE).read_text("utf-8", "replace").splitlines()
        except OSError:
            return []

    def note_open(self, folders: Iterable[Path]) -> None:
        """Note in which folders files are open, for whoever comes after a kill.

        Args:
            folders: all of them.

        Raises:
            OSError: it cannot be noted.
        """
        self._folder.mkdir(parents=True, exist_ok=True)  # somebody may have removed it
        text = "".join(f"{folder.relative_to(self._root).as_posix()}\n" for folder in folders)
        (self._folder / _NOTE_PART).write_text(text, "utf-8")
        os.replace(self._folder / _NOTE_PART, self._folder / _NOTE)

    def let_go(self) -> None:
        """Let others have the folder; not while it is still being mended, as whoever does so may cut a file."""
        if not self._mutex.acquire(timeout=_PATIENCE_S):
            return
        try:
            if self._is_had and not self._is_over:
                self._is_over = True
                self._leave()
        finally:
            self._mutex.release()

    def _leave(self) -> None:
        lock, self._lock = self._lock, None
        for name in (_NOTE_PART, _NOTE, LOCK):
            with suppress(OSError):
                os.unlink(self._folder / name)
        if lock is not None:
            lock.release()
        with suppress(OSError):
            os.rmdir(self._folder)
