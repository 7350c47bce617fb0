"""What a worker is told when it is made."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from uploader.errors import ConfigurationError
from uploader.limits import MAX_IN_FLIGHT, WORKER_CHUNK_BYTES
from uploader.sealing import Sealer
from uploader.sinks.base import Sink
from uploader.spool.batches import Folder
from uploader.worker.intake import Prepare
from uploader.worker.ports import NewDelivery
from uploader.worker.reporting import Hook

DEFAULT_MAX_QUEUED_RECORDS: Final = 10_000

_MEMORY_IF_UNKNOWN: Final = 4 * 1024**3


def default_max_queued_bytes() -> int:
    """Half of the physical memory: the objects are the caller's, the queue only keeps them alive."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return _MEMORY_IF_UNKNOWN // 2


def new_run_id() -> str:
    """The id of a run that no platform knows."""
    return f"local-{uuid4().hex}"


def _sealer() -> Sealer:
    return Sealer(chunk_bytes=WORKER_CHUNK_BYTES, recoverable=True)


@dataclass(frozen=True)
class WorkerSettings:
    """All that a worker needs to begin, and to begin anew in a forked child.

    Attributes:
        sinks: where batches go.
        new_delivery: makes what sends them; None where nothing is sent.
        open_folder: opens the run's folder on disk; None keeps batches in memory.
        new_memory: makes what keeps a few batches in memory.
        run_id: the run.
        max_queued_records: the most records that wait for the encoder.
        max_queued_bytes: the most bytes that these make.
        max_in_flight: the most requests at once, for each sink.
        on_event: called with each event, in a thread of its own.
        prepare: makes of a record what is encoded in its place, where `submit` names nothing else.
        find_leftovers: opens the folders that earlier runs left for these sinks.
        new_sealer: makes what holds an open batch.
    """

    sinks: Sequence[Sink]
    new_delivery: NewDelivery | None
    open_folder: Callable[[], Folder] | None
    new_memory: Callable[[], Folder]
    run_id: str
    max_queued_records: int = DEFAULT_MAX_QUEUED_RECORDS
    max_queued_bytes: int = field(default_factory=default_max_queued_bytes)
    max_in_flight: int = MAX_IN_FLIGHT
    on_event: Hook | None = None
    prepare: Prepare | None = None
    find_leftovers: Callable[[], Iterable[Folder]] = tuple
    new_sealer: Callable[[], Sealer] = _sealer

    def __post_init__(self) -> None:
        for option in ("max_queued_records", "max_queued_bytes", "max_in_flight"):
            if getattr(self, option) <= 0:
                raise ConfigurationError(option, f"{getattr(self, option)} is not positive")
        names = [sink.name for sink in self.sinks]
        if len(set(names)) != len(names):
            raise ConfigurationError("sinks", "two of them have the same name")
