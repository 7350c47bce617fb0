"""The data directory: one file of compressed lines per upload, the index, and bodies on their way in.

    index.sqlite        what is stored (index.py)
    lines/ab/ab12….gz   the lines of upload ab12…, named by its digest (blocks.py)
    incoming/           bodies being received and lines being written; of no use after a crash
    lock                held by the process that serves the directory

A file is written under incoming/, synced, renamed to its place and its folder synced; then its row is
committed. So a row's file is always whole, and what has no row was never acknowledged.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from uploader.receiver.errors import DataDirInUseError
from uploader.receiver.index import Index

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock
    _can_lock = False
else:
    _can_lock = True


class Store:
    """Everything under one data directory.

    Attributes:
        index: the SQLite index.

    Raises:
        DataDirInUseError: another process serves the directory.
    """

    def __init__(self, data_dir: Path) -> None:
        self._lines_dir = data_dir / "lines"
        self._incoming_dir = data_dir / "incoming"
        for folder in (self._lines_dir, self._incoming_dir):
            folder.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(data_dir)
        try:
            self.index = Index(data_dir / "index.sqlite")
        except BaseException:
            self._lock.close()
            raise
        _sync_dir(data_dir)
        _sync_dir(data_dir.absolute().parent)
        self._remove_leftovers()

    def close(self) -> None:
        """Let go of the directory; once is enough."""
        self.index.close()
        self._lock.close()

    @contextmanager
    def incoming_file(self) -> Iterator[BinaryIO]:
        """A temporary file, readable and writable, that is gone afterwards unless it was published."""
        with tempfile.NamedTemporaryFile(dir=self._incoming_dir, delete=False) as file:
            try:
                yield cast("BinaryIO", file)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(file.name)

    def publish(self, file: BinaryIO, upload_id: str) -> None:
        """Move a file, already synced, to its upload's place, durably."""
        path = self.lines_path(upload_id)
        path.parent.mkdir(exist_ok=True)
        os.replace(file.name, path)
        # The folder may be new, now or since a crash; syncing one that did not change costs next to nothing.
        _sync_dir(path.parent)
        _sync_dir(self._lines_dir)

    def lines_path(self, upload_id: str) -> Path:
        """The file of an upload's lines; the id is a digest, 64 hex digits."""
        return self._lines_dir / upload_id[:2] / f"{upload_id}.gz"

    def _remove_leftovers(self) -> None:
        """Remove what a killed process left: bodies on their way, and files whose row was not committed."""
        for path in self._incoming_dir.iterdir():
            path.unlink()
        with self.index.connect() as connection:
            for path in self._lines_dir.glob("??/*.gz"):
                known = connection.execute("SELECT 1 FROM uploads WHERE upload_id = ?", (path.stem,)).fetchone()
                if known is None:
                    path.unlink()


def sync_file(file: BinaryIO) -> None:
    """Have the operating system write a file's bytes to the disk."""
    file.flush()
    os.fsync(file.fileno())


def _sync_dir(folder: Path) -> None:
    if os.name == "nt":  # pragma: no cover - a folder can't be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(data_dir: Path) -> BinaryIO:
    file = (data_dir / "lock").open("ab")
    if _can_lock:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise DataDirInUseError(data_dir) from error
    return file
