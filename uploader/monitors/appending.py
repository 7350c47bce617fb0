"""A file that grows by whole lines: what is cut short, by whatever, is cut off again.

Rules:

1. A line is written piece by piece, so it is never in memory as a whole. When one of its pieces cannot be had or
   written, the file is cut back to where the line began.
2. What a killed process left of a line is cut off when the file is opened; of files that nobody opens, see `mending`.
3. A file that is moved or removed meanwhile is not written to any more: `is_in_place` says so.
"""

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from uploader.limits import CHUNK_BYTES
from uploader.monitors.codecs import Codec

logger = logging.getLogger(__name__)

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class AppendedFile:
    """A file, opened for appending; it is made, with its folders, if there is none.

    Args:
        path: where it is.
        codec: how its lines are written.

    Attributes:
        path: where it is.
        size: its bytes.
        is_damaged: whether it holds something that is not cut off, and must not be continued.
        is_torn: whether it ends within a line, as cutting it back failed: it has to be opened anew.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, codec: Codec) -> None:
        self.path = path
        self._codec = codec
        self._unsynced_folders = _make_folder(path.parent)
        self._descriptor = os.open(path, _FLAGS, 0o666)
        self.is_torn = False
        try:
            self.size, self.is_damaged = codec.end_of(path)
            self._cut_off_what_is_torn()
        except BaseException:
            os.close(self._descriptor)
            raise

    def _cut_off_what_is_torn(self) -> None:
        size = os.fstat(self._descriptor).st_size
        if size == self.size:
            return
        if self.is_damaged:
            logger.warning("%s is damaged behind its first %d bytes; it is left as it is", self.path, self.size)
            self.size = size
        else:
            os.ftruncate(self._descriptor, self.size)
            logger.warning("%s ended within a line: its last %d bytes were cut off", self.path, size - self.size)

    def append(self, pieces: Iterable[bytes]) -> int:
        """Write a line at the end, or nothing.

        Args:
            pieces: the line's, its LF included.

        Returns:
            The line's bytes, before any compression.

        Raises:
            OSError: it cannot be written.
            Exception: what the pieces raise.
        """
        compressor = self._codec.compressor()
        size = written = 0
        try:
            for piece in pieces:
                size += len(piece)
                for start in range(0, len(piece), CHUNK_BYTES):
                    chunk = piece if len(piece) <= CHUNK_BYTES else memoryview(piece)[start : start + CHUNK_BYTES]
                    written += self._write(compressor.add(chunk))
            written += self._write(compressor.finish())
        except BaseException:
            self._cut_back()
            raise
        self.size += written
        return size

    def _write(self, data: bytes) -> int:
        left = memoryview(data)
        while left:  # a disk that is nearly full takes a part
            left = left[os.write(self._descriptor, left) :]
        return len(data)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._descriptor, self.size)
        except OSError:
            self.is_torn = True

    @property
    def is_in_place(self) -> bool:
        """Whether this is still the file at its path, and nobody else wrote to it."""
        try:
            there = os.stat(self.path)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._descriptor)) and there.st_size == self.size

    def sync(self) -> None:
        """Return once all that was appended would survive a loss of power.

        Raises:
            OSError: that cannot be had.
        """
        os.fsync(self._descriptor)
        while self._unsynced_folders:
            _sync_folder(self._unsynced_folders[0])
            del self._unsynced_folders[0]

    def close(self) -> None:
        """Let go of it."""
        with suppress(OSError):  # what it would say of the disk, `sync` has said
            os.close(self._descriptor)


def _make_folder(path: Path) -> list[Path]:
    """Make a folder, and those above it that are missing; which of them will have got a new entry by a file in it."""
    changed = [path]
    while not changed[-1].exists():
        changed.append(changed[-1].parent)
    path.mkdir(parents=True, exist_ok=True)
    return changed


def _sync_folder(path: Path) -> None:
    with suppress(PermissionError):  # a folder of somebody else's; or any, on Windows
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
