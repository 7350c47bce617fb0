"""Stored batches made into one stream of lines.

Rules:

1. A batch is checked against the digest in its name before anything of it is written; so one that is not what was
   stored costs itself.
2. A line that came in an earlier batch is left out. It stands in two when a service made the sender divide a batch
   that a store had taken before it could say so. Lines that differ are all written, even of one record: a trace that
   was logged again as it grew.
3. Every line ends with an LF.

A batch is held once, compressed; of the lines so far 16 bytes each, about a hundred with Python's share.
"""

import hashlib
from collections.abc import Callable, Iterator

import xxhash

from uploader.limits import CHUNK_BYTES, MAX_REQUEST_BYTES
from uploader.pulling.sources import StoredBatch
from uploader.unpacking import UnpackError, lines_of, unpacked


class DamagedError(ValueError):
    """A batch that is not what was stored."""


class Merger:
    """Writes the lines of batches, each once.

    Args:
        write: takes the next bytes.

    Attributes:
        num_batches: how many batches were written.
        num_lines: the lines written.
        num_repeated: the lines left out.
        size: the bytes written.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._seen: set[bytes] = set()
        self.num_batches = self.num_lines = self.num_repeated = self.size = 0

    def add(self, batch: StoredBatch, content: bytes | memoryview) -> None:
        """Write a batch's lines.

        Raises:
            DamagedError: it is not what was stored; nothing of it was written.
        """
        self._check(batch, content)
        self.num_batches += 1
        for line in lines_of(_plain(batch, content)):
            self.add_line(line)

    def add_line(self, pieces: list[bytes]) -> None:
        """Write a line, unless it came before."""
        hasher = xxhash.xxh3_128()
        for piece in pieces:
            hasher.update(piece.removesuffix(b"\n"))
        digest = hasher.digest()
        if digest in self._seen:
            self.num_repeated += 1
            return
        self._seen.add(digest)
        self.num_lines += 1
        for piece in pieces if pieces[-1].endswith(b"\n") else [*pieces, b"\n"]:
            self._write(piece)
            self.size += len(piece)

    def _check(self, batch: StoredBatch, content: bytes | memoryview) -> None:
        if len(content) > MAX_REQUEST_BYTES:
            raise DamagedError(f"it has {len(content):,} bytes, more than any batch")
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in _plain(batch, content):
                digest.update(chunk)
                size += len(chunk)
                if size > MAX_REQUEST_BYTES:
                    raise DamagedError("it holds more than any batch")
        except UnpackError as error:
            raise DamagedError(str(error)) from None
        if digest.hexdigest() != batch.name.digest:
            raise DamagedError("its lines are not those that it is named for")


def _plain(batch: StoredBatch, content: bytes | memoryview) -> Iterator[bytes]:
    view = memoryview(content)
    pieces = (view[start : start + CHUNK_BYTES] for start in range(0, len(view), CHUNK_BYTES))
    return unpacked(pieces, compressed=batch.name.compressed)
