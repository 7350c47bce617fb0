"""A run while it is open: what it is, and logging to it.

Logging puts objects in queues and returns; whatever happens behind them, it neither waits nor raises for it. All that
may wait is in `flush`, within its time.
"""

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from uploader.arguments import check_source
from uploader.clock import get_clock
from uploader.errors import RunError, RunFinishedError
from uploader.models import LineFormat
from uploader.runs.arguments import usable_seconds, usable_step, usable_values, usable_work
from uploader.runs.background import in_daemon
from uploader.runs.closing import RunParts
from uploader.runs.endings import Status
from uploader.runs.identity import RunKind
from uploader.runs.metrics import metrics_row
from uploader.worker.stats import WorkerStats

logger = logging.getLogger(__name__)

Mode = Literal["online", "offline", "disabled"]
OnError = Literal["warn", "raise"]

DEFAULT_FLUSH_TIMEOUT_S = 30.0


class LiveRun:
    """What a run is, and what is logged to it.

    Attributes:
        kind: whether it trains or evaluates.
        mode: `online`, `offline` (everything stays in the spool until it is resumed) or `disabled`.
    """

    def __init__(self, parts: RunParts, kind: RunKind, mode: Mode, on_error: OnError) -> None:
        self.kind: RunKind = kind
        self.mode: Mode = mode
        self._parts = parts
        self._raises = on_error == "raise"
        self._status = Status.RUNNING
        self._summary: dict[str, Any] = {}
        self._said_late = False
        self._begin_locks()

    def _begin_locks(self) -> None:
        self._finishing = threading.Lock()  # taken by whoever finishes, and never let go
        self._finished = threading.Event()
        self._finisher = 0

    def __repr__(self) -> str:
        where = "local" if self.is_local else "platform"
        facts = f"id={self.id!r}, kind={self.kind!r}, mode={self.mode!r}, status={str(self.status)!r}"
        return f"{type(self).__name__}({facts}, {where})"

    @property
    def id(self) -> str:
        """Its id, which each of its records carries."""
        return self._parts.lifecycle.opened.id

    @property
    def name(self) -> str | None:
        """What people call it."""
        return self._parts.lifecycle.opened.name

    @property
    def url(self) -> str | None:
        """Where people look at it; None if there is no such place."""
        return self._parts.lifecycle.opened.url

    @property
    def is_local(self) -> bool:
        """Whether the platform does not know it: its id was made here."""
        return self._parts.lifecycle.is_local

    @property
    def status(self) -> Status:
        """`running`, or how it ended."""
        return self._status

    @property
    def summary(self) -> dict[str, Any]:
        """A copy of its results so far."""
        return dict(self._summary)

    @property
    def stats(self) -> WorkerStats:
        """How many records are in each state, and all other figures, of one moment."""
        return self._parts.worker.stats

    def log_episodes(self, episodes: Iterable[Any], *, step: int | None = None, work: RunKind = "train") -> bool:
        """Log episodes; it returns at once.

        Args:
            episodes: `Episode`s, mappings, or other records. They get the run's identity while they are encoded.
            step: of a training run; for episodes whose `run.work` does not say theirs.
            work: likewise what they are for: to `train` on, or to `eval`uate the model in training with.

        Returns:
            Whether they were taken. If not, the queue is full, and all are counted as dropped; or the run has ended.

        Raises:
            ConfigurationError: these are no records, or this is no step.
            RunFinishedError: the run has ended, and errors are to be raised.
        """
        return self._log("episodes", episodes, LineFormat.EPISODE, step, work)

    def log_traces(self, traces: Iterable[Any], *, step: int | None = None, work: RunKind = "train") -> bool:
        """Log traces that belong to no episode; as `log_episodes`."""
        return self._log("traces", traces, LineFormat.TRACE, step, work)

    def _log(self, name: str, records: Iterable[Any], line_format: LineFormat, step: int | None, work: RunKind) -> bool:
        check_source(name, records, may_be_async=False)
        usable_step(step)
        usable_work(work)
        batch = records if isinstance(records, list | tuple) else list(records)
        if self._is_late(f"{len(batch)} {name}"):
            return False
        if not batch:
            return True
        return self._parts.worker.submit(batch, line_format, prepare=self._parts.identity.preparer(step, work))

    def log_metrics(self, values: Mapping[str, Any], *, step: int | None = None) -> bool:
        """Log a row of metrics; it returns at once.

        Args:
            values: numbers and texts by name; NaN and infinities are left out.
            step: kept as `step` unless the values have their own.

        Returns:
            Whether it was taken. If not, too many wait, or there is no place for them, as in a local run without a
            spool, and it is counted as lost; or the run has ended.

        Raises:
            ConfigurationError: these are no values by name, or this is no step.
            RunFinishedError: the run has ended, and errors are to be raised.
        """
        usable_values("values", values)
        usable_step(step)
        if self._is_late("metrics"):
            return False
        return self._parts.metrics.put(metrics_row(values, step, get_clock().now().timestamp()))

    def update_summary(self, values: Mapping[str, Any]) -> None:
        """Merge results into the summary, which is kept or told at the end.

        The platform is told that of an evaluation as its metrics, and that of a training run in a last row of metrics,
        with `summary/` before each name. That of a local run is the last line of its `metrics.jsonl`.

        Raises:
            ConfigurationError: these are no values by name.
            RunFinishedError: the run has ended, and errors are to be raised.
        """
        usable_values("values", values)
        if not self._is_late("a summary"):
            self._summary.update(values)

    def _is_late(self, what: str) -> bool:
        if not self._finishing.locked():
            return False
        if self._raises:
            raise RunFinishedError(self.id, f"it has ended, and takes no {what}: open another run")
        if not self._said_late:
            self._said_late = True
            logger.warning("Run %s has ended, and takes no %s; this is said once", self.id, what)
        return True

    def flush(self, timeout: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:
        """Wait until everything logged so far is safe: stored, or on disk and forced to it.

        Args:
            timeout: seconds; None for as long as it takes.

        Returns:
            Whether it is.

        Raises:
            RunError: something was lost, and errors are to be raised.
        """
        timeout_s = None if timeout is None else usable_seconds("timeout", timeout)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        safe = self._parts.worker.flush(timeout_s)
        left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
        safe = self._parts.metrics.flush(left_s) and safe
        losses = self._parts.report(self._status).losses if self._raises else ""
        if losses:
            raise RunError(self.id, losses)
        return safe

    async def aflush(self, timeout: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:  # noqa: ASYNC109
        """`flush`, for an event loop, which goes on meanwhile."""
        return await in_daemon(lambda stop: self.flush(timeout), "uploader-flush")
