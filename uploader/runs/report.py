"""What became of a run's records, in numbers and in a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from uploader.runs.endings import Status
from uploader.spool.aside import SetAside
from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerStats


@dataclass(frozen=True)
class RunReport:
    """What `finish` reports.

    Attributes:
        run_id: which run.
        status: how it ended.
        counts: how many records are in each state; final.
        spool: the folder that holds what was not sent and what was set aside, None without one.
        resume_command: what sends it later, for a shell: of several services each has a command of its own, with `;`
            between them. None where nothing waits on disk.
        lost_metrics: rows of metrics that are nowhere.
        kept_metrics: rows of metrics that the platform was not told of in time: they are on disk, and are resumed.
        metrics_path: the file that holds the rows of a local run, or those that the platform refused; None for none.
        stopped: which sinks refuse the key or the account, and why; empty for none.
        problem: why nobody was told of the run's end, or its summary is nowhere; None if that was done.
        set_aside: what was set aside and is on no disk, up to 16 MiB of it, compressed: it ends with the process.
        stored_by_sink: how many records each sink has, by its name; `counts` says `stored` of what all have.
    """

    run_id: str
    status: Status
    counts: Counts
    spool: Path | None = None
    resume_command: str | None = None
    lost_metrics: int = 0
    kept_metrics: int = 0
    metrics_path: Path | None = None
    stopped: str = ""
    problem: str | None = None
    set_aside: tuple[SetAside, ...] = ()
    stored_by_sink: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every record is stored, every row of metrics kept, and the run closed."""
        return self.counts.stored == self.counts.submitted and not self.losses and not self.kept_metrics

    @property
    def losses(self) -> str:
        """What was lost, set aside, or refused for good, in words; empty if nothing was."""
        counts = self.counts
        reasons = "; ".join(counts.dropped_reasons)
        found = [
            f"{counts.dropped} dropped ({reasons})" if counts.dropped else "",
            f"{counts.rejected} set aside ({'; '.join(counts.rejected_reasons)})" if counts.rejected else "",
            "" if self.stopped in counts.dropped_reasons else self.stopped,  # said already
            f"{self.lost_metrics} rows of metrics lost" if self.lost_metrics else "",
            f"it could not be closed: {self.problem}" if self.problem else "",
        ]
        return ", ".join(filter(None, found))

    @property
    def _by_sink(self) -> str:
        """What each sink has, where one has more than all have."""
        if all(stored <= self.counts.stored for stored in self.stored_by_sink.values()):
            return ""
        each = ", ".join(f"{stored} by {name}" for name, stored in self.stored_by_sink.items())
        return f" by all sinks ({each})"

    def __str__(self) -> str:
        counts = self.counts
        parts = [f"{counts.stored} of {counts.submitted} records stored{self._by_sink}"]
        waiting = counts.spooled + counts.in_flight
        if waiting:
            parts.append(f"{waiting} {'on disk' if self.spool else 'in memory'}")
        if self.kept_metrics:
            parts.append(f"{self.kept_metrics} rows of metrics on disk")
        parts += [self.losses] if self.losses else []
        text = f"run {self.run_id} {self.status}: {', '.join(parts)}"
        return f"{text}. What is on disk is sent by: {self.resume_command}" if self.resume_command else text


def stopped_sinks(stats: WorkerStats) -> str:
    """The sinks that take nothing any more in this run, and why."""
    return ", ".join(sink.stopped_text for sink in stats.sinks if sink.stopped_text)
