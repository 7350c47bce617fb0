"""Disks that take nothing more, for this process."""

import errno
import os
from pathlib import Path

import pytest


class FullDisk:
    """Takes a number of bytes, the last of them in a short write, and then says that it has no room."""

    def __init__(self, room: int, number: int = errno.ENOSPC) -> None:
        self.room = room
        self.number = number
        self._write = os.write

    @classmethod
    def put_in(cls, patch: pytest.MonkeyPatch, room: int) -> "FullDisk":
        """Let all that is written from now on go to such a disk."""
        disk = cls(room)
        patch.setattr(os, "write", disk.write)
        return disk

    def write(self, descriptor: int, piece: bytes) -> int:
        if self.room <= 0:
            raise OSError(self.number, os.strerror(self.number))
        written = self._write(descriptor, piece[: self.room])
        self.room -= written
        return written


def make_read_only(patch: pytest.MonkeyPatch) -> None:
    """Make the disk read-only; a folder's permissions would not stop the super-user."""

    def refuse(path: object = None, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    open_ = os.open

    def open_to_read(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refuse(path)
        return open_(path, flags, mode)

    for name in ("mkdir", "replace", "unlink", "rmdir"):
        patch.setattr(os, name, refuse)
    patch.setattr(os, "open", open_to_read)
