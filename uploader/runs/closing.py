"""The end of a run, within its time: first the records, then the metrics, then the platform is told.

So nobody looks at a run that has ended while its records still come. Each step has what the ones before left of the
time, and the last ones a share of their own, as a service that answers nothing would take all of it.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from uploader.clock import get_clock
from uploader.runs.background import within
from uploader.runs.endings import Ending, Status
from uploader.runs.identity import Identity
from uploader.runs.lifecycle import Lifecycle
from uploader.runs.metrics import MetricsQueue, Row, metrics_row
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.report import RunReport, stopped_sinks
from uploader.runs.resuming import Addresses, resume_command
from uploader.runs.worker_port import RunWorker
from uploader.spool.aside import SetAside
from uploader.worker.stats import WorkerReport

logger = logging.getLogger(__name__)

_RESERVE: Final = 0.2
"""The part of the time that is kept for metrics and the platform."""
_LONGEST_RESERVE_S: Final = 5.0
_DISK_S: Final = 0.2
"""How long a disk may take for the last rows of metrics."""


@dataclass
class RunParts:
    """What a run is made of.

    Attributes:
        lifecycle: where it is known.
        worker: takes its records.
        metrics: takes its metrics.
        identity: what its records are given.
        log: where metrics are on disk; None for nowhere.
        spool: the folder of all runs; None for none.
        addresses: where records and metrics go.
    """

    lifecycle: Lifecycle
    worker: RunWorker
    metrics: MetricsQueue
    identity: Identity
    log: MetricsLog | None = None
    spool: Path | None = None
    addresses: Addresses = field(default_factory=Addresses)
    lost_metrics: int = 0
    problem: str | None = None
    folder: Path | None = None
    set_aside: tuple[SetAside, ...] = ()
    stopped: threading.Event = field(default_factory=threading.Event)

    def hurry(self) -> None:
        """End all waiting for a service."""
        self.stopped.set()
        self.worker.hurry()

    def note(self, report: WorkerReport) -> None:
        """What the worker's end left where."""
        self.folder, self.set_aside = report.spool, report.set_aside

    def report(self, status: Status) -> RunReport:
        """What has become of everything by now."""
        stats = self.worker.stats
        counts = stats.counts
        records_wait = self.folder is not None and bool(counts.spooled + counts.in_flight)
        metrics_wait = self.lifecycle.has_untold
        return RunReport(
            run_id=self.lifecycle.opened.id,
            status=status,
            counts=counts,
            spool=self.folder,
            resume_command=None
            if self.spool is None
            else resume_command(self.spool, self.addresses, records_wait=records_wait, metrics_wait=metrics_wait),
            lost_metrics=self.lost_metrics + self.metrics.failed + self.metrics.dropped,
            kept_metrics=self.lifecycle.kept_metrics,
            metrics_path=self.log.path if self.log is not None and self.log.rows else None,
            stopped=stopped_sinks(stats),
            problem=self.problem,
            set_aside=self.set_aside,
            stored_by_sink={sink.name: sink.stored_records for sink in stats.sinks},
        )


def close_run(parts: RunParts, ending: Ending, timeout_s: float) -> RunReport:
    """Close a run.

    Args:
        parts: the run.
        ending: how it ends.
        timeout_s: how long it may take.

    Raises:
        KeyboardInterrupt: it came meanwhile; the records are sealed and kept on disk all the same.
    """
    deadline_s = time.monotonic() + timeout_s
    reserve_s = 0.0 if parts.lifecycle.is_local else min(_LONGEST_RESERVE_S, _RESERVE * timeout_s)

    def left_s() -> float:
        return 0.0 if parts.stopped.is_set() else max(0.0, deadline_s - time.monotonic())

    interrupt: BaseException | None = None
    try:
        parts.note(parts.worker.close(max(0.0, timeout_s - reserve_s)))
    except (KeyboardInterrupt, SystemExit) as error:  # it has sealed and kept what there was
        interrupt = error
        parts.stopped.set()
        parts.note(parts.worker.close(0.0))  # the same report again
    if last_row := parts.lifecycle.last_row(ending):
        parts.metrics.put(metrics_row(last_row, None, get_clock().now().timestamp()))
    try:
        # Metrics are on their way already. Half of what is left for the last of them: the platform is to be told, too.
        rows = parts.metrics.close(left_s() if parts.lifecycle.is_local else left_s() / 2)
    except (KeyboardInterrupt, SystemExit) as error:
        interrupt = error
        rows = parts.metrics.close(0.0)
    _keep(parts, rows)
    if interrupt is not None:
        parts.problem = None if parts.lifecycle.is_local else "interrupted"
        parts.lifecycle.put_off(ending)
        raise interrupt
    parts.problem = parts.lifecycle.close(ending, left_s())
    return parts.report(ending.status)


def _keep(parts: RunParts, rows: Sequence[Row]) -> None:
    """Keep what was not delivered on disk, unless the disk hangs."""
    if not rows:
        return
    try:
        kept = within(_DISK_S, lambda stop: parts.lifecycle.keep(rows), "uploader-metrics-keep")
    except TimeoutError:
        kept = False
    if not kept:
        parts.lost_metrics += len(rows)
