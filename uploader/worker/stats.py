"""What a worker says about itself: one frozen object, of one moment."""

from dataclasses import dataclass
from pathlib import Path

from uploader.delivery.stats import SinkStats
from uploader.spool.aside import SetAside
from uploader.worker.counts import Counts


@dataclass(frozen=True, slots=True)
class WorkerStats:
    """Everything about a worker, of one moment.

    Attributes:
        counts: how many records are in each state.
        sinks: about each sink.
        queued_bytes: what is queued makes about so many bytes of JSON.
        oldest_queued_age_s: how long the oldest record that is queued has been so; 0.0 if there is none.
        encoded_bytes: the JSON made so far.
        sealed_bytes: the same in sealed batches, compressed.
        sent_bytes: what sinks have, compressed.
        kept_bytes: the sealed batches that wait, on disk or in memory, compressed.
        encoded_bytes_per_s: over the last ten seconds.
        sealed_bytes_per_s: over the last ten seconds.
        sent_bytes_per_s: over the last ten seconds.
        retries: attempts that failed and were, or will be, repeated, over all sinks; refusals (429, 503) not counted.
        concurrency: requests that may be in flight at once, over all sinks.
        restarts: how often something escaped one of the worker's threads.
        untold_events: events that a slow `on_event` hook was not told of.
    """

    counts: Counts
    sinks: tuple[SinkStats, ...] = ()
    queued_bytes: int = 0
    oldest_queued_age_s: float = 0.0
    encoded_bytes: int = 0
    sealed_bytes: int = 0
    sent_bytes: int = 0
    kept_bytes: int = 0
    encoded_bytes_per_s: float = 0.0
    sealed_bytes_per_s: float = 0.0
    sent_bytes_per_s: float = 0.0
    retries: int = 0
    concurrency: int = 0
    restarts: int = 0
    untold_events: int = 0

    @property
    def submitted(self) -> int:
        """All records that `submit` was given."""
        return self.counts.submitted

    @property
    def stored(self) -> int:
        """The records that every sink has acknowledged."""
        return self.counts.stored

    @property
    def dropped(self) -> int:
        """The records that were given up; `counts.dropped_reasons` says why."""
        return self.counts.dropped

    @property
    def rejected(self) -> int:
        """The records that were set aside."""
        return self.counts.rejected


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What became of everything, when a worker was closed.

    Attributes:
        stats: the last ones.
        spool: the folder that holds what was not sent and what was set aside; None if there is no such record.
        set_aside: what was set aside and is on no disk, up to 16 MiB of it, compressed.
    """

    stats: WorkerStats
    spool: Path | None = None
    set_aside: tuple[SetAside, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every record is stored."""
        return self.stats.counts.stored == self.stats.counts.submitted
