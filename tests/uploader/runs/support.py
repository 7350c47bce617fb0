"""A run with a worker that only remembers, and a platform that follows a script."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from uploader.models import LineFormat
from uploader.runs.untold import Note
from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerReport, WorkerStats


class FakeWorker:
    """Encodes nothing; notes what it is told.

    Attributes:
        submitted: each call: what `prepare` made of the records, and their line format.
        closings: the time that each closing was given.
    """

    def __init__(self, spool: Path | None = None) -> None:
        self.stats = WorkerStats(Counts())
        self.submitted: list[tuple[list[Any], LineFormat]] = []
        self.closings: list[float] = []
        self.flushes: list[float | None] = []
        self.on_close: Callable[[], None] = lambda: None
        self.accepts = True
        self.is_safe = True
        self.begun = False
        self.hurried = threading.Event()
        self._spool = spool

    def count(self, **counts: Any) -> None:
        self.stats = WorkerStats(replace(self.stats.counts, **counts))

    def submit(
        self, records: Sequence[Any], line_format: LineFormat, *, prepare: Callable[[Any], Any] | None = None
    ) -> bool:
        if self.accepts:
            assert prepare is not None
            self.submitted.append(([prepare(record) for record in records], line_format))
        return self.accepts

    def begin(self) -> None:
        self.begun = True

    def flush(self, timeout_s: float | None = None) -> bool:
        self.flushes.append(timeout_s)
        return self.is_safe

    def close(self, timeout_s: float = 0.0) -> WorkerReport:
        self.closings.append(timeout_s)
        if len(self.closings) == 1:
            self.on_close()
        return WorkerReport(self.stats, self._spool)

    def hurry(self) -> None:
        self.hurried.set()


def rows_of(spool: Path, run_id: str) -> list[Any]:
    """The rows of a run's metrics on disk."""
    path = spool / run_id / "metrics.jsonl"
    return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def notes_of(spool: Path, run_id: str) -> list[Note]:
    """What the platform is still to be told of a run."""
    path = spool / run_id / "platform.jsonl"
    return [Note.decode(orjson.loads(line)) for line in path.read_bytes().splitlines()] if path.exists() else []
