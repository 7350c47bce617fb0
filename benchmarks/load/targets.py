"""Monitors as a user sets them up, as what is logged to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.load.cases import Case
from benchmarks.load.protocol import Depth, Outcome
from benchmarks.services import SimulatedService
from benchmarks.sides import KEY, URL
from uploader.monitors import FileMonitor, Monitor, UploadMonitor, WandbMonitor, setup

FINISH_TIMEOUT_S: Final = 3600.0
FILES: Final = "outputs"
"""The folder of the file monitor, within that of the case."""


class Monitors:
    """Some monitors, set up together, before there is an event loop: that of W&B imports it then.

    Args:
        case: which.
        url: where a receiver listens; None for a transport in this process.
        folder: for all that they keep on disk.
    """

    def __init__(self, case: Case, url: str | None, folder: Path) -> None:
        makers: dict[str, Callable[[], Monitor]] = {
            "upload": lambda: _upload_monitor(url, folder),
            "file": lambda: FileMonitor(folder / FILES, finish_timeout_s=FINISH_TIMEOUT_S),
            "wandb": lambda: WandbMonitor(
                project="load", mode="offline", dir=folder, finish_timeout_s=FINISH_TIMEOUT_S
            ),
        }
        self._made = {name: makers[name]() for name in case.parts}
        self._group = setup(*self._made.values())
        self.log = self._group.log
        self.finalize = self._group.finalize

    def depth(self) -> Depth:
        """How far the slowest of them is."""
        depths = [_depth(name, monitor.stats) for name, monitor in self._made.items()]
        return Depth(
            max(depth.queued for depth in depths),
            min(depth.taken for depth in depths),
            min(depth.done for depth in depths),
        )

    def outcome(self) -> Outcome:
        """What they say became of everything."""
        stats = self._group.stats
        failures = [f"{each.name}: {each.last_error}" for each in stats.monitors if each.last_error]
        if "upload" not in self._made:
            return Outcome(lost=stats.dropped, failures=failures)
        worker = self._made["upload"].stats.worker  # type: ignore[attr-defined]
        (sink,) = worker.sinks
        assert worker.counts.total == worker.counts.submitted, worker.counts
        return Outcome(
            requests=sink.stored_batches + sink.retries + sink.refusals,
            retries=sink.retries,
            refusals=sink.refusals,
            stored=worker.stored,
            lost=stats.dropped + worker.rejected,
            failures=failures,
        )


def _upload_monitor(url: str | None, folder: Path) -> UploadMonitor:
    return UploadMonitor(
        kind="train",
        name="load",
        api_key=KEY,
        base_url=url or URL,
        transport=SimulatedService() if url is None else None,
        spool=folder / "spool",
        lifecycle="local",
        finish_timeout=FINISH_TIMEOUT_S,
    )


def _depth(name: str, stats: Any) -> Depth:
    if name == "wandb":  # which takes a few of the episodes for its tables
        return Depth(stats.waiting, stats.records, stats.records)
    counts = stats.worker.counts if name == "upload" else stats.counts
    taken = counts.total - counts.queued - counts.encoding
    return Depth(stats.records - taken - counts.encoding, taken, counts.stored)
