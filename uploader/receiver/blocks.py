"""Stored lines: a gzip file of independent one-mebibyte members, so that any range is read without the rest.

`zcat` reads the file as a whole. Block k holds the uncompressed bytes [k * BLOCK_BYTES, (k + 1) *
BLOCK_BYTES); the index keeps where each block starts in the file. Reading a line therefore inflates the
blocks it lies in, at most one mebibyte too much at either end, instead of everything before it. Compressing
a body anew costs about as much as reading its JSON; a page of nodes, or each record of a batch, would
otherwise inflate the whole batch.
"""

import array
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from uploader.receiver.codec import Deflater, inflate_member, new_deflater

BLOCK_BYTES: Final = 1024 * 1024


class BlockWriter:
    """Compresses a stream into a file, block by block.

    Attributes:
        offsets: where each block starts in the file, and in the end where the last one ends.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._written = 0
        self._left = 0
        self._deflater: Deflater | None = None
        self.offsets: list[int] = []

    def write(self, data: bytes) -> None:
        """Append uncompressed bytes."""
        view = memoryview(data)
        while view:
            if self._deflater is None:
                self.offsets.append(self._written)
                self._deflater, self._left = new_deflater(), BLOCK_BYTES
            part = view[: self._left]
            self._put(self._deflater.compress(part))
            self._left -= len(part)
            view = view[len(part) :]
            if not self._left:
                self._end_block()

    def finish(self) -> None:
        """End the last block; the file itself stays open."""
        self._end_block()
        self.offsets.append(self._written)

    def _end_block(self) -> None:
        if self._deflater is not None:
            self._put(self._deflater.flush())
            self._deflater = None

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._written += len(data)


def pack_offsets(offsets: list[int]) -> bytes:
    """Block offsets as little-endian 64-bit integers."""
    return _little_endian(array.array("Q", offsets)).tobytes()


def unpack_offsets(packed: bytes) -> list[int]:
    """The opposite of `pack_offsets`."""
    offsets = array.array("Q")
    offsets.frombytes(packed)
    return _little_endian(offsets).tolist()


def iter_range(path: Path, offsets: list[int], start: int, size: int) -> Iterator[bytes]:
    """Read `size` uncompressed bytes from `start` on.

    Args:
        path: a file that `BlockWriter` wrote.
        offsets: its block offsets.
        start: the first byte, counted in the uncompressed stream.
        size: how many.

    Yields:
        Pieces of at most `BLOCK_BYTES`.

    Raises:
        OSError: the file is gone.
        EOFError: the file is shorter than its index says.
    """
    with path.open("rb") as file:
        while size:
            block, skip = divmod(start, BLOCK_BYTES)
            file.seek(offsets[block])
            content = inflate_member(file.read(offsets[block + 1] - offsets[block]))
            piece = content[skip : skip + size]
            if not piece:
                raise EOFError(f"{path.name} ends before byte {start}")
            yield piece
            start += len(piece)
            size -= len(piece)


def _little_endian(values: "array.array[int]") -> "array.array[int]":
    if sys.byteorder == "big":  # pragma: no cover
        values.byteswap()
    return values
