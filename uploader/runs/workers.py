"""The worker behind a run: a real one, online or offline; or none at all."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from uploader.errors import ConfigurationError, SpoolError
from uploader.models import LineFormat
from uploader.sinks.base import Sink
from uploader.spool.room import SpoolLimits
from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerReport, WorkerStats
from uploader.worker.worker import UploadWorker

logger = logging.getLogger(__name__)

_QUEUE: Final = {"max_queued_records": 1, "max_queued_bytes": 1, "max_in_flight": 1}
_SPOOL: Final = {"max_spool_bytes": 1, "min_free_disk_bytes": 0}
"""The limits that may be chosen, each with the least that it may be."""


@dataclass(frozen=True)
class WorkerChoices:
    """What may be said about a worker; None for what it does by itself."""

    run_id: str
    spool: Path | None = None
    max_queued_records: int | None = None
    max_queued_bytes: int | None = None
    max_in_flight: int | None = None
    max_spool_bytes: int | None = None
    min_free_disk_bytes: int | None = None
    on_event: Callable[[Any], object] | None = None


class NoWorker:
    """Takes everything and keeps nothing."""

    stats = WorkerStats(Counts())

    def begin(self) -> None:
        """There are no threads."""

    def submit(
        self, records: Sequence[Any], line_format: LineFormat, *, prepare: Callable[[Any], Any] | None = None
    ) -> bool:
        """Forget the records."""
        return True

    def flush(self, timeout_s: float | None = None) -> bool:
        """There is nothing to wait for."""
        return True

    def close(self, timeout_s: float = 0.0) -> WorkerReport:
        """There is nothing to close."""
        return WorkerReport(self.stats)

    def hurry(self) -> None:
        """There is nothing to hurry."""


def open_worker(
    mode: Literal["online", "offline"],
    sinks: Sequence[Sink],
    choices: WorkerChoices,
    *,
    must_have_spool: bool,
) -> UploadWorker:
    """A worker for one run.

    Args:
        mode: `online`, or `offline`, which sends nothing.
        sinks: where the records go.
        choices: what was said about it.
        must_have_spool: whether a spool that cannot be used is an error; else the records are kept in memory.

    Raises:
        ConfigurationError: a choice cannot be used.
        SpoolError: the spool cannot be used, and must be.
    """
    limits = _limits(choices, _QUEUE)
    spool_limits = SpoolLimits(**_limits(choices, _SPOOL))

    def worker(spool: Path | None) -> UploadWorker:
        return UploadWorker(
            sinks,
            run_id=choices.run_id,
            spool=spool,
            spool_limits=spool_limits,
            on_event=choices.on_event,
            offline=mode == "offline",
            **limits,
        )

    try:
        return worker(choices.spool)
    except SpoolError as error:
        if must_have_spool or mode == "offline":
            raise
        logger.warning("Run %s keeps what is not sent in memory alone: %s", choices.run_id, error)
        return worker(None)


def _limits(choices: WorkerChoices, lowest: Mapping[str, int]) -> dict[str, Any]:
    """Those of some limits that were chosen.

    Raises:
        ConfigurationError: one cannot be used.
    """
    chosen = {name: value for name in lowest if (value := getattr(choices, name)) is not None}
    for name, value in chosen.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < lowest[name]:
            raise ConfigurationError(name, f"it must be a whole number, {lowest[name]} or more, not {value!r}")
    return chosen
