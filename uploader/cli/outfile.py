"""Output that appears only when it is whole."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file for writing that takes the place of `path` when the block ends without an error.

    `-` is standard output; a pipe or a device is written as it is, since it cannot be replaced.

    Raises:
        OSError: the file cannot be written.
    """
    if str(path) == "-":
        yield from _standard_output()
        return
    if _is_special(path):
        with path.open("wb") as file:
            yield file
        return
    target = path.resolve()  # a link stays a link
    partial = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _standard_output() -> Iterator[BinaryIO]:
    try:
        yield sys.stdout.buffer
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
