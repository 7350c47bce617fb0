"""What a spool keeps: batches, each with where it is to go; and what every keeper of batches can do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from uploader.models import Batch, LineFormat
from uploader.sealing import SealedBatch


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a sink sends: a batch never goes to another place or team than the one that it was logged for.

    Attributes:
        sink: the sink's name, like `traces`.
        place: its address, without any secret: a base URL, a folder, a bucket.
        team: the team that it sends for; empty for none.
    """

    sink: str
    place: str
    team: str = ""


@dataclass(frozen=True, slots=True)
class SpooledBatch:
    """A batch that is kept until it has been sent; a handle, without the batch's bytes.

    Attributes:
        run_id: the run that logged it.
        seq: its number in its folder, counted from 1: the order of the batches of one kind.
        line_format: what its lines hold.
        batch: its digest, lines and size.
        compressed_size: the bytes that are kept.
        created_at: when, in seconds since the epoch.
        context: names and values that the service keeps with each trace.
        waiting_for: the destinations that have not acknowledged it.
        on_disk: whether it survives the process.
    """

    run_id: str
    seq: int
    line_format: LineFormat
    batch: Batch
    compressed_size: int
    created_at: float
    context: Mapping[str, str] = field(default_factory=dict)
    waiting_for: tuple[Destination, ...] = ()
    on_disk: bool = True


class Folder(Protocol):
    """Keeps the batches of one run, on disk or in memory. Its methods may wait for a disk; any thread may call them."""

    @property
    def run_id(self) -> str:
        """The run whose batches it keeps."""

    @property
    def used_bytes(self) -> int:
        """The compressed bytes that it keeps now, what was set aside not counted."""

    def add(self, line_format: LineFormat, sealed: SealedBatch) -> SpooledBatch:
        """Keep a batch for all destinations of this run.

        Raises:
            SpoolFullError: there is no room for it now.
            SpoolError: it cannot be written.
        """

    def load(self, spooled: SpooledBatch) -> SealedBatch:
        """The batch's bytes, checked against the hash that was taken when it was written.

        Raises:
            DamagedBatchError: the bytes are not those that were written; the batch has been set aside.
            SpoolError: they cannot be read.
        """

    def acknowledge(self, spooled: SpooledBatch, sink: str) -> bool:
        """Note that a sink has the batch; True if it was the last one, and the batch was let go."""

    def divide(self, spooled: SpooledBatch, parts: Sequence[SealedBatch]) -> list[SpooledBatch]:
        """Keep a batch's parts in its place, for the destinations that still wait; a crash leaves one or the other."""

    def set_aside(self, spooled: SpooledBatch, reason: str) -> None:
        """Move a batch to the rejected ones, with the reason; no sink waits for it any more."""

    def set_aside_line(
        self, line_format: LineFormat, pieces: Iterator[bytes], reason: str, *, num_lines: int = 1
    ) -> None:
        """Keep a record that never came into a batch, or what could be written of it, with the reason; or several."""

    def waiting(self) -> list[SpooledBatch]:
        """What is kept and not acknowledged by all, in order."""

    def sync(self) -> None:
        """Return once everything that was added would survive a loss of power (fsync of files and folder)."""

    def close(self) -> None:
        """Let go of the folder's lock; remove the folder if nothing is left in it."""
