"""From the bytes of a batch back to its lines, a chunk at a time: never more than one line is held whole."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from uploader.limits import CHUNK_BYTES

try:
    from isal import isal_zlib
except ImportError:  # no wheel for this platform
    isal_zlib = None  # type: ignore[assignment]

_GZIP: Final = 31
_ERRORS: Final = (zlib.error, getattr(isal_zlib, "error", zlib.error))


class UnpackError(ValueError):
    """Bytes that are no gzip, or not all of it."""


class _Unpacker(Protocol):
    """What `zlib` and `isal_zlib` have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes: ...

    def flush(self) -> bytes: ...


def unpacked(pieces: Iterable[bytes | memoryview], *, compressed: bool) -> Iterator[bytes]:
    """The uncompressed bytes in chunks of at most 256 KiB; what is not compressed comes as it is.

    Args:
        pieces: the bytes, in pieces that are not much larger.
        compressed: whether they are gzip.

    Raises:
        UnpackError: they cannot be unpacked; what could be was yielded.
    """
    if not compressed:
        yield from (bytes(piece) for piece in pieces)
        return
    unpacker: _Unpacker = (isal_zlib or zlib).decompressobj(_GZIP)
    try:
        for piece in pieces:
            waiting = piece
            while waiting and not unpacker.eof:
                if chunk := unpacker.decompress(waiting, CHUNK_BYTES):
                    yield chunk
                waiting = unpacker.unconsumed_tail
        if chunk := unpacker.flush():
            yield chunk
    except _ERRORS as error:
        raise UnpackError(f"it cannot be unpacked: {error}") from None
    if not unpacker.eof:
        raise UnpackError("it cannot be unpacked: it is cut short")


def lines_of(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Each line as its pieces, the LF included; the last one may be without."""
    line: list[bytes] = []
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line.append(chunk[start : end + 1])
            yield line
            line, start = [], end + 1
        if start < len(chunk):
            line.append(chunk[start:])
    if line:
        yield line
