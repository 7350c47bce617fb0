"""Uploads what is logged, by a run of `uploader.init`."""

import time
from dataclasses import dataclass, field
from typing import Any, Final

from uploader.errors import ConfigurationError
from uploader.monitors.base import Monitor
from uploader.monitors.data import Subset, Where, is_trace
from uploader.monitors.failures import Failures
from uploader.monitors.opening import Opening
from uploader.monitors.stats import MonitorStats
from uploader.runs import Run, RunReport, init
from uploader.runs.background import in_daemon
from uploader.runs.live import DEFAULT_FLUSH_TIMEOUT_S
from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerStats

_OPEN_WAIT_S: Final = 30.0
"""How long the end waits for a run that is being opened; the platform has half of that."""


@dataclass(frozen=True, slots=True)
class UploadStats(MonitorStats):
    """Figures of an upload monitor.

    `records` is how many records were logged of the subset that is uploaded.

    Attributes:
        run_id: the run's id; None until it is open.
        worker: how many records are in each state, and all other figures of the run's worker.
    """

    run_id: str | None = None
    worker: WorkerStats = field(default_factory=lambda: WorkerStats(Counts()))


class UploadMonitor(Monitor):
    """Uploads episodes, traces and metrics with a run.

    `log` puts objects in the run's queue, on the event loop and without a thread in between; encoding, compressing and
    sending happen in the run's threads. Until the run is open, which takes a request where a platform knows it, what is
    logged waits in a list.

    - Episodes and traces are uploaded where they are of one subset, by default `all`: those that are trained on are
      logged a second time as `effective`, and would be stored twice.
    - In a training run, records of kind `eval` are marked as such (`run.work.type`), with their step.
    - Metrics are logged with the names that `Where.qualify` gives them: as they are for training, with `eval/` before
      them for an evaluation, and with `effective/` for that subset.

    The end of the monitor is the end of the run, whoever opened it.

    Args:
        run: the run; None to have one opened, in the background, by `setup` or by the first `log`.
        subset: whose records are uploaded.
        **init_arguments: those of `uploader.init` for the run that is opened.

    Raises:
        ConfigurationError: there are a run and arguments for another one, or this is no subset.
    """

    def __init__(self, run: Run | None = None, *, subset: Subset = "all", **init_arguments: Any) -> None:
        if run is not None and init_arguments:
            names = ", ".join(init_arguments)
            raise ConfigurationError("run", f"it is open already, so these cannot be used: {names}")
        if subset not in ("all", "effective"):
            raise ConfigurationError("subset", f"it must be 'all' or 'effective', not {subset!r}")
        self._subset = subset
        self._failures = Failures(f"The monitor {self.name}")
        self._opening = Opening(run, lambda: init(**init_arguments), self._failures)
        self._metrics = self._records = self._refused = 0
        self._ended = False
        self.report: RunReport | None = None
        """What became of everything; None until the end."""

    @property
    def run(self) -> Run | None:
        """The run; None until it is open."""
        return self._opening.run

    def start(self) -> None:
        """Have the run opened, in a thread."""
        self._opening.begin()

    def take_metrics(self, values: dict[str, Any], where: Where) -> None:
        """Queue a row of metrics."""
        if values:
            row = {where.qualify(str(name)): value for name, value in values.items()}
            self._metrics += 1
            self._opening.give(lambda run: self._log_row(run, row, where), 1)

    def _log_row(self, run: Run, row: dict[str, Any], where: Where) -> None:
        if not run.log_metrics(row, step=where.step):
            self._refused += 1

    def take_records(self, records: list[Any], where: Where) -> None:
        """Queue the records of the subset that is uploaded."""
        if where.subset != self._subset:
            return
        self._records += len(records)
        traces = [record for record in records if is_trace(record)]
        if len(traces) < len(records):
            episodes = [record for record in records if not is_trace(record)] if traces else records
            self._opening.give(lambda run: run.log_episodes(episodes, step=where.step, work=where.kind), len(episodes))
        if traces:
            self._opening.give(lambda run: run.log_traces(traces, step=where.step, work=where.kind), len(traces))

    async def flush(self, timeout_s: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:
        """Wait until everything logged so far is stored, or on disk.

        Args:
            timeout_s: how long; None for as long as it takes.

        Returns:
            Whether it is. What was dropped or set aside is not waited for.

        Raises:
            UploaderError: there is no run.
            RunError: something was lost, where the run's `on_error` is `raise`.
        """
        if not self._opening.is_begun:
            return True
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        run = await self._opened(_OPEN_WAIT_S if timeout_s is None else timeout_s)
        return await run.aflush(None if deadline is None else max(0.0, deadline - time.monotonic()))

    async def finalize(self) -> None:
        """Send what there is, keep the rest on disk, and close the run.

        Raises:
            UploaderError: there is no run.
            RunError: something was lost, where the run's `on_error` is `raise`.
        """
        await self._end(None)

    async def fail(self, error: BaseException) -> None:
        """`finalize`, and close the run as failed.

        Args:
            error: why.
        """
        await self._end(error)

    async def _end(self, error: BaseException | None) -> None:
        if self._ended or not self._opening.is_begun:
            return
        self._ended = True
        run = await self._opened(_OPEN_WAIT_S)
        self.report = await (run.afinish() if error is None else run.afail(error))

    async def _opened(self, timeout_s: float) -> Run:
        if self._opening.run is not None:
            return self._opening.run
        return await in_daemon(lambda stop: self._opening.wait(timeout_s, stop), "uploader-wait")

    @property
    def stats(self) -> UploadStats:
        """Figures of this moment."""
        run = self._opening.run
        worker = WorkerStats(Counts()) if run is None else run.stats
        return UploadStats(
            name=self.name,
            metrics=self._metrics,
            records=self._records,
            dropped=self._opening.dropped + self._refused + worker.dropped,
            failures=self._failures.count,
            last_error=self._failures.last,
            run_id=None if run is None else run.id,
            worker=worker,
        )
