"""Writes what is logged to files of JSON lines."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from uploader.arguments import usable_path
from uploader.clock import get_clock
from uploader.errors import ConfigurationError
from uploader.monitors.base import Monitor
from uploader.monitors.codecs import Compress, open_codec
from uploader.monitors.data import Where
from uploader.monitors.failures import Failures
from uploader.monitors.file_engine import FileEngine, FileSettings
from uploader.monitors.stats import MonitorStats
from uploader.runs import exits
from uploader.runs.arguments import usable_seconds
from uploader.runs.background import in_daemon
from uploader.runs.live import DEFAULT_FLUSH_TIMEOUT_S
from uploader.worker.counts import Counts
from uploader.worker.settings import DEFAULT_MAX_QUEUED_RECORDS, default_max_queued_bytes

DEFAULT_CHUNK_BYTES: Final = 5 * 1024**3
DEFAULT_FINISH_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class FileStats(MonitorStats):
    """Figures of a file monitor.

    Attributes:
        counts: how many records are in each state; `stored` ones are written.
        queued_bytes: what is queued makes about so many bytes of JSON.
        written_bytes: the JSON written, before any compression.
        written_bytes_per_s: over the last ten seconds.
        is_failing: whether the disk refuses what is written; it is tried again.
    """

    counts: Counts = field(default_factory=Counts)
    queued_bytes: int = 0
    written_bytes: int = 0
    written_bytes_per_s: float = 0.0
    is_failing: bool = False


class FileMonitor(Monitor):
    """Writes metrics to `metrics.jsonl`, and records to `rollouts/step_<n>/<kind>/<subset>/traces.jsonl`.

    - `log` returns once what it is given is queued; one thread encodes and writes, piece by piece, so that no record is
      in memory as a whole. `flush` and `finalize` wait for the disk.
    - A row of metrics is a line with `step`, `kind`, `subset`, the values by their names, and `_timestamp`; it is
      written as it comes. A record is a line as `to_json` makes it. What is compressed has a stream of its own for each
      line, one behind the other, which ordinary tools read.
    - The line that takes a file to `chunk_bytes` ends it, and the next ones go to `traces_001.jsonl`,
      `traces_002.jsonl` and so on.
    - What is there is continued. A killed process leaves whole lines and at most one that is cut short, which the next
      monitor for the folder cuts off before it writes, whatever step it goes on with. It knows what was open, and looks
      at the ends of these files and of those of the latest steps; a compressed file that is torn, or continued, is read
      once, in the thread that writes.
    - A disk that fails is tried again for as long as the monitor lives; a failure is logged once for each kind,
      counted, and visible in `stats`. Meanwhile records wait in the queue, and those that find it full are dropped and
      counted.
    - A folder is written by one monitor at a time.

    Args:
        path: the folder; it is made when it is first written to.
        chunk_bytes: how large a file of records becomes, in bytes on disk; None for any size.
        compress: `gz` or `zst` (extra `zstd`) for records; metrics are never compressed, as they are tailed.
        max_queued_bytes: the most bytes of JSON that wait; by default half of the physical memory.
        max_queued_records: the most records that wait.
        finish_timeout_s: how long `finalize` may wait for the disk.

    Raises:
        ConfigurationError: an option has a value that cannot be used, or its library is not installed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        chunk_bytes: int | None = DEFAULT_CHUNK_BYTES,
        compress: Compress | None = None,
        max_queued_bytes: int | None = None,
        *,
        max_queued_records: int = DEFAULT_MAX_QUEUED_RECORDS,
        finish_timeout_s: float = DEFAULT_FINISH_TIMEOUT_S,
    ) -> None:
        if max_queued_bytes is None:
            max_queued_bytes = default_max_queued_bytes()
        for option, value in (
            ("chunk_bytes", 1 if chunk_bytes is None else chunk_bytes),
            ("max_queued_bytes", max_queued_bytes),
            ("max_queued_records", max_queued_records),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigurationError(option, f"it must be a whole number, 1 or more, not {value!r}")
        self.path = Path(usable_path("path", path)).absolute()
        self._finish_timeout_s = usable_seconds("finish_timeout_s", finish_timeout_s)
        self._settings = FileSettings(
            self.path, open_codec(compress), chunk_bytes, max_queued_records, max_queued_bytes
        )
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._failures = Failures(f"The monitor {self.name}")
        self._engine = FileEngine(self._settings, self._failures)
        self._metrics = 0
        self._is_watched = False

    def start(self) -> None:
        """Have the threads started."""
        if not self._is_watched:
            self._is_watched = True
            exits.watch(self)
        self._engine.begin()

    def take_metrics(self, values: dict[str, Any], where: Where) -> None:
        """Queue a row of metrics."""
        if values:
            self.start()
            self._metrics += 1
            row = {"step": where.step, "kind": where.kind, "subset": where.subset, **values}
            row.setdefault("_timestamp", get_clock().now().timestamp())
            self._engine.put_row(row)

    def take_records(self, records: list[Any], where: Where) -> None:
        """Queue records."""
        self.start()
        self._engine.put_records(records, where)

    async def flush(self, timeout_s: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:
        """Wait until everything logged so far is on disk, and forced to it.

        Args:
            timeout_s: how long; None for as long as it takes.

        Returns:
            Whether it is. What was dropped or rejected is not waited for.
        """
        return await in_daemon(lambda stop: self._engine.flush(timeout_s, stop), "uploader-flush")

    async def finalize(self) -> None:
        """Wait until everything is on disk, for `finish_timeout_s`, and end; a cancellation ends the waiting."""
        await in_daemon(lambda stop: self._close(), "uploader-finish", self._engine.hurry)

    def _close(self) -> None:
        self._engine.close(self._finish_timeout_s)
        exits.forget(self)

    def finish_at_exit(self) -> None:
        """Write what there is: the interpreter exits, and nobody finalized the monitor."""
        self._close()

    def after_fork(self) -> None:
        """Begin anew, in a forked child: what was logged before is the parent's to write."""
        self._engine.abandon()
        was_closed = self._engine.is_closed
        self._begin_anew()
        if was_closed:
            self._engine.close(0)

    @property
    def stats(self) -> FileStats:
        """Figures of this moment."""
        engine = self._engine
        counts, rows = engine.ledger.counts(), engine.metrics.queue
        return FileStats(
            name=self.name,
            metrics=self._metrics,
            records=counts.submitted,
            dropped=counts.dropped + engine.late + rows.dropped + rows.failed + engine.lost_rows,
            failures=self._failures.count,
            last_error=self._failures.last,
            counts=counts,
            queued_bytes=engine.intake.queued_bytes,
            written_bytes=engine.writing.meter.total,
            written_bytes_per_s=engine.writing.meter.bytes_per_s,
            is_failing=engine.disk.is_failing,
        )
