"""The spool's system calls, all in one place: private files, written in pieces, put in place by a rename.

Everything here may be killed between any two calls. The order of the calls is what `folder` and `recovery` rely on.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from uploader.errors import SpoolError, SpoolFullError
from uploader.limits import CHUNK_BYTES

_PRIVATE_FILE: Final = 0o600
_PRIVATE_FOLDER: Final = 0o700
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Let an OSError inside the block be a SpoolError about `path`, with the OSError as its cause.

    Raises:
        SpoolFullError: the disk has no room.
        SpoolError: anything else.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            raise SpoolFullError(str(path), f"{reason}: sending makes room") from error
        raise SpoolError(str(path), reason) from error


def make_folder(path: Path) -> None:
    """Make a private folder, and those above it that are missing; one that exists stays as it is."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path.parent == path:
            break
        path = path.parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder, _PRIVATE_FOLDER)
        except FileExistsError:
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "it is no folder", str(folder)) from None


def write_file(path: Path, pieces: Iterable[bytes]) -> int:
    """Write a private file, one call for each piece, and return its size; what was there before is gone."""
    size = 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, _PRIVATE_FILE)
    try:
        for piece in pieces:
            written = os.write(descriptor, piece)
            size += written
            while written < len(piece):  # a signal, or a disk that is nearly full
                piece = piece[written:]
                written = os.write(descriptor, piece)
                size += written
    finally:
        os.close(descriptor)
    return size


def read_pieces(path: Path, max_bytes: int | None = None) -> Iterator[bytes]:
    """The bytes of a file, in pieces of at most 256 KiB, and at most one more than `max_bytes` in all."""
    left = None if max_bytes is None else max_bytes + 1
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        while left != 0:
            piece = os.read(descriptor, CHUNK_BYTES if left is None else min(CHUNK_BYTES, left))
            if not piece:
                return
            if left is not None:
                left -= len(piece)
            yield piece
    finally:
        os.close(descriptor)


def move(source: Path, target: Path) -> None:
    """Rename a file, in the place of whatever is there."""
    os.replace(source, target)


def remove(path: Path) -> bool:
    """Remove a file; whether there was one."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def remove_folder(path: Path) -> bool:
    """Remove an empty folder; False if it is not empty, or not there."""
    try:
        os.rmdir(path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            return False
        raise
    return True


def sync(path: Path) -> bool:
    """Return once a file or a folder would survive a loss of power; False if there is none any more."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True


def list_folder(path: Path) -> list[str]:
    """The names in a folder, in any order; none if there is no folder."""
    try:
        return os.listdir(path)
    except FileNotFoundError:
        return []


def file_size(path: Path) -> int | None:
    """The bytes of a file; None if there is none."""
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except FileNotFoundError:
        return None


def free_bytes(path: Path) -> int:
    """The bytes that this user may still write to a folder's disk."""
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize
