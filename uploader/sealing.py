"""The open batch: whole lines' pieces go through hash and compressor, one chunk at a time."""

from dataclasses import dataclass

from uploader.models import Batch


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
