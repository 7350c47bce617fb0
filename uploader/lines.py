"""The lines of files and of iterables, byte for byte, with their numbers; blank ones are skipped.

The service splits on LF alone, so nothing else ends a line here. A line is opaque: whether it is JSON is not
asked.
"""

import os
from collections.abc import Generator, Iterator
from typing import BinaryIO, TypeAlias

from uploader.errors import ConfigurationError, RecordError, TraceTooLargeError
from uploader.limits import CHUNK_BYTES, MAX_LINE_BYTES

FileSource: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file open for reading in binary mode (which stays open)."""


def file_lines(source: FileSource, *, max_line_bytes: int = MAX_LINE_BYTES) -> Generator[bytes, None, None]:
    """Every line of a file, its LF included; the last one may be without.

    No more than one line is held, and of a line that is too long no more than `max_line_bytes`. A blank line
    beyond that comes as a single LF.

    Raises:
        TraceTooLargeError: a line is too long; the lines before it were yielded.
        ConfigurationError: the file is open in text mode.
        OSError: the file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        with open(source, "rb", buffering=CHUNK_BYTES) as file:
            yield from _read_lines(file, max_line_bytes)
    else:
        yield from _read_lines(source, max_line_bytes)


def refuse_long_lines(path: str | os.PathLike[str], *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
    """Read through a file that could hold a line that is too long, before anything of it is sent.

    Raises:
        TraceTooLargeError: it holds one.
        OSError: the file cannot be read.
    """
    if os.stat(path).st_size > max_line_bytes:
        for _ in file_lines(path, max_line_bytes=max_line_bytes):
            pass


def whole_line(
    line: object, line_number: int, *, max_line_bytes: int = MAX_LINE_BYTES
) -> tuple[list[bytes], int] | None:
    """A line's only piece and its size in bytes, as it is; None for a blank line.

    Args:
        line: bytes, or a buffer of them, which is copied.
        line_number: the line's place in its source, counted from 1.
        max_line_bytes: how long a line may be, its LF not counted.

    Raises:
        RecordError: the line is no bytes.
        TraceTooLargeError: the line is too long.
    """
    if not isinstance(line, bytes):
        if not isinstance(line, bytearray | memoryview):
            raise RecordError(line_number, f"a line must be bytes, not {type(line).__name__}")
        line = bytes(line)
    if not line or line.isspace():
        return None
    size = len(line)
    if size > max_line_bytes:
        content_size = size
        while line[content_size - 1] == 0x0A:
            content_size -= 1
        if content_size > max_line_bytes:
            raise TraceTooLargeError(line_number, content_size, max_line_bytes)
    return [line], size


def _read_lines(file: BinaryIO, max_line_bytes: int) -> Iterator[bytes]:
    line_number = 0
    while line := file.readline(max_line_bytes + 1):
        line_number += 1
        if not isinstance(line, bytes):
            raise ConfigurationError("file", "it is open in text mode: open it with mode 'rb'")
        if len(line) > max_line_bytes and not line.endswith(b"\n"):
            line = _pass_long_line(file, line, line_number, max_line_bytes)
        yield line


def _pass_long_line(file: BinaryIO, head: bytes, line_number: int, max_line_bytes: int) -> bytes:
    """Read a line to its end without keeping it: an LF when it is blank, else an error with its size."""
    size = len(head)
    blank = head.isspace()
    del head
    while part := file.readline(CHUNK_BYTES):
        size += len(part)
        blank = blank and part.isspace()
        if part.endswith(b"\n"):
            size -= 1
            break
    if not blank:
        raise TraceTooLargeError(line_number, size, max_line_bytes)
    return b"\n"
