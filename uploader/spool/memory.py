"""A folder without a disk: for runs that want none, and while the disk takes nothing."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from uploader.clock import get_clock
from uploader.errors import SpoolError, SpoolFullError
from uploader.models import LineFormat
from uploader.sealing import SealedBatch
from uploader.spool.aside import Aside
from uploader.spool.batches import Destination, SpooledBatch

_PLACE = "memory"


class MemoryFolder:
    """Keeps a few batches of one run in memory, and of what is set aside as much as `aside` takes.

    Args:
        run_id: the run.
        destinations: where its batches are to go.
        max_batches: how many may be kept at once; what a batch is divided into may pass it.
        context: names and values that the service keeps with each trace.

    Attributes:
        aside: what was set aside.
    """

    def __init__(
        self,
        run_id: str,
        destinations: Sequence[Destination],
        *,
        max_batches: int,
        context: Mapping[str, str] | None = None,
    ) -> None:
        self._run_id = run_id
        self._destinations = tuple(destinations)
        self._max_batches = max_batches
        self._context = dict(context or {})
        self.aside = Aside()
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[SpooledBatch, SealedBatch]] = {}
        self._last_seq = 0
        self._used_bytes = 0

    @property
    def run_id(self) -> str:
        """The run whose batches it keeps."""
        return self._run_id

    @property
    def used_bytes(self) -> int:
        """The compressed bytes that it keeps now."""
        return self._used_bytes

    def add(self, line_format: LineFormat, sealed: SealedBatch) -> SpooledBatch:
        """Keep a batch for all destinations of this run.

        Raises:
            SpoolFullError: it keeps as many as it may.
        """
        with self._lock:
            if len(self._kept) >= self._max_batches:
                raise SpoolFullError(_PLACE, f"{len(self._kept)} batches wait, and no more may: sending makes room")
            return self._keep(line_format, sealed, self._destinations, self._context)

    def load(self, spooled: SpooledBatch) -> SealedBatch:
        """The batch.

        Raises:
            SpoolError: it is kept no longer.
        """
        with self._lock:
            return self._find(spooled)[1]

    def acknowledge(self, spooled: SpooledBatch, sink: str) -> bool:
        """Note that a sink has the batch; True if it was the last one, and the batch was let go."""
        with self._lock:
            if spooled.seq not in self._kept:
                return False
            kept, sealed = self._kept[spooled.seq]
            still = tuple(destination for destination in kept.waiting_for if destination.sink != sink)
            if still:
                self._kept[spooled.seq] = (replace(kept, waiting_for=still), sealed)
            else:
                self._let_go(spooled)
            return not still

    def divide(self, spooled: SpooledBatch, parts: Sequence[SealedBatch]) -> list[SpooledBatch]:
        """Keep a batch's parts in its place, for the destinations that still wait.

        Raises:
            SpoolError: the batch is kept no longer.
        """
        with self._lock:
            whole, _ = self._find(spooled)
            kept = [self._keep(whole.line_format, part, whole.waiting_for, whole.context) for part in parts]
            self._let_go(spooled)
            return kept

    def set_aside(self, spooled: SpooledBatch, reason: str) -> None:
        """Let a batch go, and keep it as set aside, if there is room."""
        with self._lock:
            kept = self._kept.get(spooled.seq)
            self._let_go(spooled)
        if kept is not None:
            self.aside.add(spooled.line_format, kept[1], reason)

    def set_aside_line(
        self, line_format: LineFormat, pieces: Iterator[bytes], reason: str, *, num_lines: int = 1
    ) -> None:
        """Keep a record that never came into a batch, or several, if there is room."""
        self.aside.add_lines(line_format, pieces, reason, num_lines)

    def waiting(self) -> list[SpooledBatch]:
        """What is kept and not acknowledged by all, in order."""
        with self._lock:
            return [self._kept[seq][0] for seq in sorted(self._kept)]

    def sync(self) -> None:
        """Nothing: memory survives no loss of power."""

    def close(self) -> None:
        """Let everything go."""
        with self._lock:
            self._kept.clear()
            self._used_bytes = 0

    def _find(self, spooled: SpooledBatch) -> tuple[SpooledBatch, SealedBatch]:
        if (kept := self._kept.get(spooled.seq)) is None:
            raise SpoolError(_PLACE, f"batch {spooled.seq} is kept no longer")
        return kept

    def _keep(
        self,
        line_format: LineFormat,
        sealed: SealedBatch,
        destinations: tuple[Destination, ...],
        context: Mapping[str, str],
    ) -> SpooledBatch:
        self._last_seq += 1
        spooled = SpooledBatch(
            run_id=self._run_id,
            seq=self._last_seq,
            line_format=line_format,
            batch=sealed.batch,
            compressed_size=sealed.compressed_size,
            created_at=get_clock().now().timestamp(),
            context=context,
            waiting_for=destinations,
            on_disk=False,
        )
        self._kept[spooled.seq] = (spooled, sealed)
        self._used_bytes += spooled.compressed_size
        return spooled

    def _let_go(self, spooled: SpooledBatch) -> None:
        if self._kept.pop(spooled.seq, None) is not None:
            self._used_bytes -= spooled.compressed_size
