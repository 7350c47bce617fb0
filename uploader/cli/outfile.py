"""Output that appears only when it is whole."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from uploader.naming import named


class Writer(Protocol):
    """What bytes are written to."""

    def write(self, content: bytes) -> int:
        """Write all of them, and say how many there were."""


@contextmanager
def whole_file(path: Path) -> Iterator[Writer]:
    """A file for writing that takes the place of `path` when the block ends without an error.

    `-` is standard output; a pipe or a device is written as it is, since it cannot be replaced.

    Raises:
        OSError: the file cannot be written; it names `path`.
    """
    if str(path) == "-":
        yield from _standard_output()
        return
    if _is_special(path):
        with _closed(path.open("wb"), path) as special:
            yield special
        return
    target = path.resolve()  # a link stays a link
    partial = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.partial")
    try:
        with named(path):
            file = partial.open("xb")
        with _closed(file, path) as whole:
            yield whole
            with named(path):
                file.flush()
                os.fsync(file.fileno())
        with named(path):
            partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def same_file(source: Path, output: Path) -> bool:
    """Whether writing `output` would change `source`, by whatever name or link; `-` is standard output.

    A terminal, and what else is no place to keep bytes, may be both.
    """
    try:
        written = os.fstat(sys.stdout.fileno()) if str(output) == "-" else output.stat()
        read = source.stat()
    except (OSError, ValueError):  # there is no output yet, or standard output is no file
        return False
    return os.path.samestat(read, written) and not stat.S_ISCHR(read.st_mode)


class _NamedFile:
    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path

    def write(self, content: bytes) -> int:
        with named(self._path):
            return self._file.write(content)


@contextmanager
def _closed(file: BinaryIO, path: Path) -> Iterator[Writer]:
    try:
        yield _NamedFile(file, path)
    finally:
        with named(path):
            file.close()  # it may have to write what is buffered, and fail


def _standard_output() -> Iterator[Writer]:
    try:
        yield _NamedFile(sys.stdout.buffer, Path("-"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Whoever read it has gone. What is left in the buffer must go somewhere, or the interpreter's exit complains.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _is_special(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
