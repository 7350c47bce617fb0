"""The worker behind a run: a real one, online or offline; or none at all."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import httpx

from uploader.config import Config
from uploader.delivery.sender import Sender
from uploader.errors import ConfigurationError, SpoolError
from uploader.limits import MAX_IN_FLIGHT
from uploader.models import LineFormat
from uploader.sinks.base import Sink
from uploader.sinks.traces import TracesSink
from uploader.spool.folder import DiskFolder
from uploader.spool.memory import MemoryFolder
from uploader.spool.scan import leftovers
from uploader.worker.core import Worker
from uploader.worker.counts import Counts
from uploader.worker.listening import Listener
from uploader.worker.settings import WorkerSettings
from uploader.worker.stats import WorkerReport, WorkerStats

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerChoices:
    """What may be said about a worker; None for what it does by itself."""

    run_id: str
    spool: Path | None = None
    max_queued_records: int | None = None
    max_queued_bytes: int | None = None
    max_in_flight: int | None = None
    on_event: Callable[[Any], object] | None = None


class NoWorker:
    """Takes everything and keeps nothing."""

    stats = WorkerStats(Counts())

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
    config: Config,
    transport: httpx.AsyncBaseTransport | None,
    choices: WorkerChoices,
    *,
    must_have_spool: bool,
) -> Worker:
    """A worker for one run.

    Args:
        mode: `online`, or `offline`, which sends nothing.
        config: the service that the records are for.
        transport: an httpx transport to use instead of the network.
        choices: what was said about it.
        must_have_spool: whether a spool that cannot be used is an error; else the records are kept in memory.

    Raises:
        ConfigurationError: a choice cannot be used.
        SpoolError: the spool cannot be used, and must be.
    """
    sink = TracesSink(config, transport=transport)
    settings = _settings(mode, sink, choices)
    try:
        return Worker(settings)
    except SpoolError as error:
        if must_have_spool or mode == "offline":
            raise
        logger.warning("Run %s keeps what is not sent in memory alone: %s", choices.run_id, error)
        return Worker(replace(settings, open_folder=None, find_leftovers=tuple))


def _settings(mode: str, sink: Sink, choices: WorkerChoices) -> WorkerSettings:
    destination, run_id, root = sink.destination, choices.run_id, choices.spool
    limits = {
        name: value
        for name in ("max_queued_records", "max_queued_bytes", "max_in_flight")
        if (value := getattr(choices, name)) is not None
    }
    for name, value in limits.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigurationError(name, f"it must be a whole number, 1 or more, not {value!r}")
    kept_at_once = limits.get("max_in_flight", MAX_IN_FLIGHT)
    return WorkerSettings(
        sinks=(sink,),
        new_delivery=_sender if mode == "online" else None,
        open_folder=None if root is None else lambda: DiskFolder.open(root, run_id, [destination]),
        new_memory=lambda: MemoryFolder(run_id, [destination], max_batches=kept_at_once),
        run_id=run_id,
        on_event=choices.on_event,
        find_leftovers=tuple if root is None or mode == "offline" else lambda: leftovers(root, destination),
        **limits,
    )


def _sender(sinks: Sequence[Sink], max_in_flight: int, listener: Listener) -> Sender:
    return Sender(sinks, max_in_flight=max_in_flight, listener=listener)
