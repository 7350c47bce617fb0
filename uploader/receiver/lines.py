"""Cuts a stream of bytes into numbered lines and holds them to the contract's limits.

Lines end at LF bytes only. At most one unfinished line is held.
"""

from collections.abc import Iterator
from typing import NamedTuple

from uploader.receiver.errors import RequestRefusedError


class Line(NamedTuple):
    """One line of an upload.

    Attributes:
        number: 1-based, blank lines counted.
        offset: where it starts in the uncompressed upload, in bytes.
        data: its bytes without the LF.
    """

    number: int
    offset: int
    data: bytes


def check_upload_size(size: int, max_bytes: int) -> None:
    """Hold an upload's uncompressed bytes to the limit.

    Raises:
        RequestRefusedError: `upload_too_large`.
    """
    if size > max_bytes:
        raise RequestRefusedError(
            "upload_too_large", f"The upload holds more than {max_bytes} uncompressed bytes: divide it."
        )


class LineSplitter:
    """Takes pieces and gives lines.

    Attributes:
        size: the bytes taken so far.
        lines: the lines given so far, blank ones included.
    """

    def __init__(self, *, max_bytes: int, max_line_bytes: int, max_lines: int) -> None:
        self._max_bytes = max_bytes
        self._max_line_bytes = max_line_bytes
        self._max_lines = max_lines
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.size = 0
        self.lines = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        """The lines that end within the piece; blank ones (ASCII white space) are counted and skipped.

        Raises:
            RequestRefusedError: `upload_too_large`, `trace_too_large` or `too_many_traces_in_upload`.
        """
        self.size += len(piece)
        check_upload_size(self.size, self._max_bytes)
        offset = self.size - len(piece) - self._pending_bytes
        # Most pieces lie within one long line: those are kept without a copy.
        *ended, rest = piece.split(b"\n") if b"\n" in piece else (piece,)
        for part in ended:
            self._hold(part)
            size = self._pending_bytes + 1
            yield from self._take(offset)
            offset += size
        if rest:
            self._hold(rest)

    def finish(self) -> Iterator[Line]:
        """The last line, when no LF ends it."""
        if self._pending_bytes:
            yield from self._take(self.size - self._pending_bytes)

    def _hold(self, part: bytes) -> None:
        self._pending_bytes += len(part)
        if self._pending_bytes > self._max_line_bytes:
            raise RequestRefusedError(
                "trace_too_large", f"Line {self.lines + 1} is longer than {self._max_line_bytes} bytes."
            )
        self._pending.append(part)

    def _take(self, offset: int) -> Iterator[Line]:
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._pending, self._pending_bytes = [], 0
        self.lines += 1
        if self.lines > self._max_lines:
            raise RequestRefusedError(
                "too_many_traces_in_upload", f"The upload holds more than {self._max_lines} lines: divide it."
            )
        if data and not data.isspace():
            yield Line(self.lines, offset, data)
