"""The open batch: whole lines' pieces go through hash and compressor, one chunk at a time.

Rules:

1. A line enters whole or not at all, so one that fails or is too long leaves the batch as it was.
2. The bytes of a batch are never together uncompressed: a line's pieces are let go as they are hashed and
   compressed.
3. A batch closes by its *uncompressed* size, so that the same lines make the same batches and the same
   keys whatever the compressor: before the line that would take it past its target, or past the number of
   lines that a request may have. A line larger than the target is a batch by itself.
4. A line that lacks its LF gets it when another line follows in the same batch: two lines never run together.
   The batch's last line stays byte for byte as it was given.
5. Hash and compressor get chunks of one size however the pieces were cut (but for a batch's last): compressed
   bytes would otherwise depend on the cuts. A chunk is also the most that one C call gets; both calls let the
   GIL go, and the one who makes them waits for it after each.
6. Where whatever goes wrong may cost nothing, the open batch's lines can be had back at any time (`lines`): the
   compressor gives out all it has after each chunk, and a chunk is let go only then.

Nothing here knows threads, files or sockets.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from uploader.compression import Chunk, CompressOption, gzip_level, open_compressor
from uploader.errors import ConfigurationError
from uploader.limits import CHUNK_BYTES, DEFAULT_TARGET_BATCH_BYTES, MAX_BATCH_LINES, MAX_REQUEST_BYTES
from uploader.models import Batch
from uploader.unpacking import UnpackError, lines_of, unpacked


@dataclass(frozen=True, slots=True)
class SealedBatch:
    """A batch that is hashed, compressed and ready to be sent, as often as need be.

    Attributes:
        batch: what it holds.
        pieces: the body of the request's `traces` part, in pieces of at most 256 KiB.
        content_encoding: `gzip`, or None when the pieces are plain.
    """

    batch: Batch
    pieces: tuple[bytes, ...]
    content_encoding: str | None

    @property
    def compressed_size(self) -> int:
        """The bytes of all pieces: what travels."""
        return sum(map(len, self.pieces))


class Sealer:
    """Turns lines into sealed batches, one open batch at a time.

    A caller asks `fits`, seals when it does not, adds the line, and drives `work` at its own pace.

    Args:
        target_batch_bytes: the uncompressed size at which a batch closes.
        compress: False, True (gzip level 1) or a gzip level.
        chunk_bytes: what hash and compressor get at once.
        max_lines: the most lines in one batch.
        recoverable: whether `lines` is to work while lines are added: it costs some bytes a chunk, and no time.

    Raises:
        ConfigurationError: an option has a value that cannot be used.
    """

    def __init__(
        self,
        *,
        target_batch_bytes: int = DEFAULT_TARGET_BATCH_BYTES,
        compress: CompressOption = True,
        chunk_bytes: int = CHUNK_BYTES,
        max_lines: int = MAX_BATCH_LINES,
        recoverable: bool = False,
    ) -> None:
        if not 0 < target_batch_bytes <= MAX_REQUEST_BYTES:
            raise ConfigurationError(
                "target_batch_bytes", f"{target_batch_bytes} is not between 1 and {MAX_REQUEST_BYTES}"
            )
        if max_lines <= 0:
            raise ConfigurationError("max_lines", f"{max_lines} is not positive")
        self._target_batch_bytes = target_batch_bytes
        self._max_lines = max_lines
        self._chunk_bytes = chunk_bytes
        self._recoverable = recoverable
        self._level = gzip_level(compress)
        self._open()

    def _open(self) -> None:
        self._hash, self._compressor = hashlib.sha256(), open_compressor(self._level)
        self.size = 0
        """The uncompressed bytes of the open batch."""
        self.num_lines = 0
        """The lines of the open batch."""
        self.first_line_number = 0
        """The place of its first line in the lines' source, counted from 1."""
        self._lacks_lf = False
        self._waiting: deque[Chunk] = deque()
        self._waiting_size = 0
        self._taken: list[Chunk] = []
        self._pieces: list[bytes] = []
        self._partial: list[bytes] = []
        self._partial_size = 0

    def fits(self, size: int) -> bool:
        """Whether a line of this size, its LF included if any, belongs to the open batch; if not, `seal` first."""
        if not self.num_lines:
            return True
        return self.size + self._lacks_lf + size <= self._target_batch_bytes and self.num_lines < self._max_lines

    def add(self, pieces: Sequence[bytes], size: int, line_number: int) -> bool:
        """Take a whole line into the open batch; whether there is now a chunk to `work` on.

        Args:
            pieces: the line's bytes, LF included where it has one; none is empty.
            size: how many they are.
            line_number: the line's place in its source, counted from 1.
        """
        if not self.num_lines:
            self.first_line_number = line_number
        elif self._lacks_lf:
            self._waiting.append(b"\n")
            self._waiting_size += 1
            self.size += 1
        self._lacks_lf = not pieces[-1].endswith(b"\n")
        self._waiting.extend(pieces)
        self._waiting_size += size
        self.size += size
        self.num_lines += 1
        return self._waiting_size >= self._chunk_bytes

    def work(self) -> Iterator[None]:
        """Hash and compress what waits, yielding after each chunk (of 256 KiB: half a millisecond of work, GIL free).

        Less than a chunk is left waiting. Whoever stops early loses nothing: the rest waits for the next call
        or for `seal`.
        """
        while self._waiting_size >= self._chunk_bytes:
            self._process_chunk()
            yield

    def finish_work(self) -> None:
        """Hash and compress all that waits."""
        while self._waiting_size:
            self._process_chunk()

    def seal(self) -> SealedBatch:
        """Close the open batch and open the next.

        Raises:
            ValueError: no line was added.
        """
        if not self.num_lines:
            raise ValueError("there is nothing to seal: no line was added")
        self.finish_work()
        self._keep(self._compressor.finish())
        self._close_piece()
        sealed = SealedBatch(
            batch=Batch(
                digest=self._hash.hexdigest(),
                num_lines=self.num_lines,
                first_line_number=self.first_line_number,
                size=self.size,
            ),
            pieces=tuple(self._pieces),
            content_encoding=None if self._level is None else "gzip",
        )
        self._open()
        return sealed

    def lines(self) -> list[list[bytes]]:
        """The open batch's lines, each as its pieces, to be added elsewhere once something escaped from here.

        Raises:
            ValueError: not all of them can be had back.
        """
        return list(lines_of(self._contents()))

    def _contents(self) -> Iterator[bytes]:
        """What was compressed, then what was not."""
        rest = [*self._taken, *self._waiting]
        left, hasher = self.size - sum(map(len, rest)), hashlib.sha256()
        with suppress(UnpackError):  # it has no end yet
            for chunk in unpacked([*self._pieces, *self._partial], compressed=self._level is not None):
                whole = chunk[:left]  # of what is being compressed some may be there already
                hasher.update(whole)
                left -= len(whole)
                yield whole
        if left or hasher.digest() != self._hash.digest():
            raise ValueError("what was compressed is not what was added")
        yield from map(bytes, rest)

    def _process_chunk(self) -> None:
        self._take_chunk()
        chunk = self._taken[0] if len(self._taken) == 1 else b"".join(self._taken)
        self._keep(self._compressor.add(chunk))
        if self._recoverable:
            self._keep(self._compressor.sync())
        self._hash.update(chunk)
        self._taken.clear()

    def _take_chunk(self) -> None:
        """Take the next chunk of what waits, or all of it when it is less; a long piece is not copied."""
        missing = min(self._chunk_bytes, self._waiting_size)
        while missing:
            piece = self._waiting[0]
            if len(piece) > missing:
                view = memoryview(piece)
                piece, self._waiting[0] = view[:missing], view[missing:]
                self._taken.append(piece)
            else:
                self._taken.append(self._waiting.popleft())
            missing -= len(piece)
            self._waiting_size -= len(piece)

    def _keep(self, output: bytes) -> None:
        """Gather the compressor's output into pieces of nearly 256 KiB, and never more."""
        if self._partial_size + len(output) > CHUNK_BYTES:
            self._close_piece()
        if len(output) > CHUNK_BYTES:
            self._pieces.extend(output[i : i + CHUNK_BYTES] for i in range(0, len(output), CHUNK_BYTES))
        elif output:
            self._partial.append(output)
            self._partial_size += len(output)

    def _close_piece(self) -> None:
        if self._partial:
            self._pieces.append(b"".join(self._partial))
            self._partial.clear()
            self._partial_size = 0
