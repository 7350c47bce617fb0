"""One monitor for a folder: two would cut each other's lines."""

import errno
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from uploader.errors import SpoolLockedError
from uploader.spool.locks import FolderLock
from uploader.spool.names import LOCK

_LOCK_FOLDER: Final = ".file-monitor"
"""The folder that holds the lock's file while a monitor writes."""

_NO_LOCKS: Final = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL})
"""What file systems without locks say, some of clusters among them; there it is left to the user."""


class Holding:
    """The hold on a folder, taken when it is first needed; any thread may call it.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / _LOCK_FOLDER
        self._lock: FolderLock | None = None
        self._is_done = os.name == "nt"  # where there is no flock
        self._mutex = threading.Lock()

    def take(self) -> None:
        """Have the folder, unless it is had already.

        Raises:
            SpoolLockedError: another monitor writes there, in this process or another.
            OSError: the folder cannot be made.
        """
        with self._mutex:
            if self._is_done:
                return
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock = FolderLock(self._folder)
            except SpoolLockedError as error:
                raise SpoolLockedError(
                    str(self._folder.parent), "another FileMonitor writes there: give each a folder of its own"
                ) from error
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
            self._is_done = True

    def let_go(self) -> None:
        """Let others have the folder."""
        with self._mutex:
            lock, self._lock = self._lock, None
            if lock is not None:
                with suppress(OSError):
                    os.unlink(self._folder / LOCK)
                lock.release()
                with suppress(OSError):
                    os.rmdir(self._folder)
