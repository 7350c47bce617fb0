"""What was set aside where no disk keeps it: the first of it, in memory, for whoever asks before the process ends."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from uploader.compression import open_compressor
from uploader.models import LineFormat
from uploader.sealing import SealedBatch
from uploader.unpacking import unpacked

MAX_ASIDE_BYTES: Final = 16 * 1024 * 1024
"""The most compressed bytes of it; what passes that is let go."""

_LEVEL: Final = 1


@dataclass(frozen=True, slots=True)
class SetAside:
    """Records that were set aside, and are on no disk.

    Attributes:
        line_format: what they are.
        num_records: how many.
        reason: why.
        pieces: their lines, compressed.
    """

    line_format: LineFormat
    num_records: int
    reason: str
    pieces: tuple[bytes, ...]

    @property
    def content(self) -> bytes:
        """Their lines; of a record that could not be written what could be of it, which may be nothing."""
        return b"".join(unpacked(self.pieces, compressed=bool(self.pieces)))


class Aside:
    """Keeps some of what is set aside; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[SetAside] = []
        self._size = 0

    @property
    def kept(self) -> tuple[SetAside, ...]:
        """What is kept, in order."""
        with self._lock:
            return tuple(self._kept)

    def add(self, line_format: LineFormat, sealed: SealedBatch, reason: str) -> None:
        """Keep a batch, if there is room."""
        chunks = unpacked(sealed.pieces, compressed=sealed.content_encoding is not None)
        self.add_lines(line_format, chunks, reason, sealed.batch.num_lines)

    def add_lines(self, line_format: LineFormat, chunks: Iterator[bytes], reason: str, num_records: int) -> None:
        """Keep lines, or what comes of them before an error, if there is room."""
        compressor, pieces, left = open_compressor(_LEVEL), [], MAX_ASIDE_BYTES - self._size
        with suppress(Exception):  # what an encoder's generator raises is the reason, or told elsewhere
            for chunk in chunks:
                pieces.append(compressor.add(chunk))
                left -= len(pieces[-1])
                if left < 0:
                    return
        pieces.append(compressor.finish())
        size = sum(map(len, pieces))
        with self._lock:
            if self._size + size <= MAX_ASIDE_BYTES:
                self._size += size
                self._kept.append(SetAside(line_format, num_records, reason, tuple(filter(None, pieces))))
