"""All that a file monitor has in one process: queues, threads, open files. A forked child gets a new one."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uploader.monitors.codecs import Codec
from uploader.monitors.data import Where
from uploader.monitors.disk import Disk
from uploader.monitors.failures import Failures
from uploader.monitors.file_metrics import FileMetrics
from uploader.monitors.holding import Holding
from uploader.monitors.open_files import Files
from uploader.monitors.writing import Writing
from uploader.runs.metrics import Row
from uploader.worker.barriers import Barrier
from uploader.worker.beginning import Beginning
from uploader.worker.closing import NO_TIME
from uploader.worker.counts import Counts
from uploader.worker.intake import Intake
from uploader.worker.ledger import Ledger

logger = logging.getLogger(__name__)

_SLICE_S: Final = 0.1
_GRACE_S: Final = 0.4
"""How long the record in hand may take beyond the end."""


@dataclass(frozen=True)
class FileSettings:
    """What a file monitor is told.

    Attributes:
        root: its folder.
        codec: how records are written.
        chunk_bytes: how large a file becomes; None for any size.
        max_queued_records: the most records that wait.
        max_queued_bytes: the most bytes of JSON that these make.
    """

    root: Path
    codec: Codec
    chunk_bytes: int | None
    max_queued_records: int
    max_queued_bytes: int


class FileEngine:
    """The monitor's parts, put together.

    Args:
        settings: what it is told.
        failures: what is told of what goes wrong.

    Attributes:
        late: the rows and records that came behind the end.
        lost_rows: the rows of metrics that there was no time for.
    """

    def __init__(self, settings: FileSettings, failures: Failures) -> None:
        self.ledger = Ledger()
        self.intake = Intake(self.ledger, settings.max_queued_records, settings.max_queued_bytes)
        self.disk = Disk(str(settings.root), failures)
        self._holding = Holding(settings.root)
        self.metrics = FileMetrics(settings.root, self.disk, self._holding.take)
        files = Files(settings.root, settings.codec, settings.chunk_bytes, self._holding.note_open)
        self.writing = Writing(self.intake, self.ledger, files, self.disk, self._holding.take, failures)
        self.late = self.lost_rows = 0
        self._said: set[str] = set()
        self._beginning = Beginning()
        self._closing = threading.Lock()  # taken by whoever closes, and never let go
        self._closed, self._hurried = threading.Event(), threading.Event()

    @property
    def is_closed(self) -> bool:
        """Whether it takes nothing any more."""
        return self._closing.locked()

    def begin(self) -> None:
        """Have the threads started, unless they are; it waits for nothing."""
        if not self._beginning.begun and not self.is_closed:
            with suppress(RuntimeError):
                self._beginning.begin(self.writing.thread.start)
                self.metrics.queue.start()

    def put_row(self, row: Row) -> None:
        """Queue a row of metrics."""
        if self.is_closed:
            self.late += 1
            return
        self.begin()
        self.metrics.queue.put(row)

    def put_records(self, records: list[Any], where: Where) -> None:
        """Queue records."""
        if self.is_closed:
            self.late += len(records)
            return
        reason = self.intake.put(records, where)
        self.begin()
        if reason is not None and reason not in self._said:
            self._said.add(reason)
            logger.warning("Records are dropped, and counted: %s; this is said once", reason)

    def flush(self, timeout_s: float | None, stop: threading.Event) -> bool:
        """Wait until everything logged so far is on disk, and forced to it; whether it is."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s

        def left_s() -> float | None:
            return None if deadline is None else max(0.0, deadline - time.monotonic())

        if self.is_closed or not self._beginning.has_begun():
            return True
        barrier = Barrier()
        self.intake.put_barrier(barrier)
        _wait(barrier, left_s, stop)
        is_safe = barrier.wait(0)
        is_safe = self.metrics.queue.flush(left_s()) and is_safe
        return self.metrics.sync() and is_safe

    def hurry(self) -> None:
        """Let a `close` that waits end now."""
        self._hurried.set()

    def close(self, timeout_s: float) -> None:
        """Write what there is, for so long, and end; what there was no time for is counted as dropped."""
        if not self._closing.acquire(blocking=False):
            self._closed.wait(timeout_s)
            return
        self.intake.close()
        try:
            if self._beginning.has_begun():
                self._finish(timeout_s)
        finally:
            self._closed.set()

    def _finish(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s

        def left_s() -> float:
            return 0.0 if self._hurried.is_set() else max(0.0, deadline - time.monotonic())

        last = Barrier(is_last=True)
        self.intake.put_barrier(last)
        _wait(last, left_s, self._hurried)
        if not last.is_passed:
            self.intake.end(last)
            self.writing.stopped.set()
        has_ended = self.writing.thread.ended.wait(_GRACE_S)
        self.lost_rows = len(self.metrics.queue.close(left_s()))
        self.metrics.sync()
        self.metrics.close()
        if has_ended:
            self._holding.let_go()  # else it may still write
        self._say(self.ledger.freeze(NO_TIME))

    def _say(self, counts: Counts) -> None:
        lost = counts.dropped + counts.rejected
        if lost or self.lost_rows:
            reasons = [*counts.dropped_reasons, *counts.rejected_reasons]
            logger.warning(
                "%d of %d records were written; the others were not (%s); %d rows of metrics were lost",
                counts.stored,
                counts.submitted,
                "; ".join(reasons) or "none",
                self.lost_rows,
            )

    def abandon(self) -> None:
        """Let go of everything, in a forked child: it is the parent's."""
        self.writing.abandon()
        self.metrics.abandon()


def _wait(barrier: Barrier, left_s: Callable[[], float | None], stop: threading.Event) -> None:
    """Wait for a barrier, for as long as there is time, and nobody says stop."""
    while not barrier.is_passed and not stop.is_set():
        left = left_s()
        if left is not None and left <= 0:
            break
        barrier.wait(_SLICE_S if left is None else min(left, _SLICE_S))
