"""What the client takes and gives: line formats, batches, receipts, and what is read back."""

from dataclasses import dataclass
from enum import StrEnum


class LineFormat(StrEnum):
    """What one line of an upload holds."""

    TRACE = "trace"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True)
class Batch:
    """The lines that travel in one request, known by the digest of their bytes.

    Attributes:
        digest: SHA-256 over the exact uncompressed bytes, newlines included: 64 lowercase hex characters.
        num_lines: how many lines it holds; blank ones are not among them.
        first_line_number: where its first line stands in the source, counted from 1, blank lines included.
        size: its uncompressed bytes.
    """

    digest: str
    num_lines: int
    first_line_number: int
    size: int

    @property
    def idempotency_key(self) -> str:
        """The value of the `Idempotency-Key` header: the same bytes always make the same key."""
        return f"sha256:{self.digest}"
