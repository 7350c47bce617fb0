"""Files that are whole or not there, and that survive a loss of power once they are."""

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from uploader.errors import StoreError, StoreRefusedError

_REFUSED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Let an OSError inside the block be an error of the store at `place`.

    Raises:
        StoreRefusedError: this user may not write there.
        StoreError: anything else, a full disk among it.
    """
    try:
        yield
    except OSError as error:
        kind = StoreRefusedError if error.errno in _REFUSED else StoreError
        raise kind(place, error.strerror or str(error)) from error


def write_whole(path: Path, pieces: Iterable[bytes], root: Path) -> None:
    """Write a file, in the place of whatever has its name, and return once it would survive a loss of power.

    A killed process may leave a hidden file that ends with `.part`.

    Args:
        path: the file.
        pieces: its bytes.
        root: a folder above it; those between the two are made where they are missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(partial, "xb", buffering=0) as file:
            for piece in pieces:
                rest = memoryview(piece)
                while rest:  # a signal, or a disk that is nearly full
                    rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    sync_up(path.parent, root)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, so that they would survive a loss of power."""
    there = next(each for each in (path, *path.parents) if each.exists())
    path.mkdir(parents=True, exist_ok=True)
    sync_up(path, there)


def sync_up(path: Path, root: Path) -> None:
    """Return once a file or folder, and the folders above it as far as `root`, would survive a loss of power."""
    for each in (path, *path.parents):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if each == root:
            break
