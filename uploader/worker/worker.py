"""A worker with everything around it: a spool on disk, and what sends from it."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path

from uploader.delivery.sender import Sender
from uploader.errors import ConfigurationError
from uploader.limits import MAX_IN_FLIGHT
from uploader.sinks.base import Sink
from uploader.spool.batches import Folder
from uploader.spool.folder import DiskFolder
from uploader.spool.memory import MemoryFolder
from uploader.spool.places import default_spool
from uploader.spool.room import SpoolLimits
from uploader.spool.scan import leftovers
from uploader.worker.core import Worker
from uploader.worker.intake import Prepare
from uploader.worker.listening import Listener
from uploader.worker.reporting import Hook
from uploader.worker.settings import (
    DEFAULT_MAX_QUEUED_RECORDS,
    WorkerSettings,
    default_max_queued_bytes,
    new_run_id,
)


class Default(Enum):
    """What is meant where nothing is said."""

    SPOOL = "the platform's folder for the state of applications"


class UploadWorker(Worker):
    """Takes records from any thread without making it wait, and brings each to every sink.

    `submit` returns in microseconds. Behind it one thread encodes, one hashes and compresses, one sends. Sealed batches
    are on disk before they are sent, and what is left there the next worker sends.

    Args:
        sinks: where to.
        run_id: the run that the records belong to; any text. By default a new one, `local-` and 32 digits.
        max_queued_records: the most records that wait for the encoder.
        max_queued_bytes: the most bytes of JSON that these make, estimated; by default half of the physical memory.
        spool: the folder of all runs' spools; None keeps batches in memory alone.
        spool_limits: how much the spool may hold, and what it leaves free of the disk.
        max_in_flight: the most requests at once, for each sink.
        on_event: called with each event (see `uploader.worker.events`), on a thread of its own.
        prepare: makes of each record, on the encoder's thread, what is encoded in its place.
        context: names and values that the service keeps with each trace.
        offline: send nothing: everything goes to the spool, for a later run or `uploader spool resume`.

    Attributes:
        run_id: the run.

    Raises:
        ConfigurationError: an option has a value that cannot be used.
        SpoolError: the spool cannot be used.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        *,
        run_id: str | None = None,
        max_queued_records: int = DEFAULT_MAX_QUEUED_RECORDS,
        max_queued_bytes: int | None = None,
        spool: Path | str | Default | None = Default.SPOOL,
        spool_limits: SpoolLimits | None = None,
        max_in_flight: int = MAX_IN_FLIGHT,
        on_event: Hook | None = None,
        prepare: Prepare | None = None,
        context: Mapping[str, str] | None = None,
        offline: bool = False,
    ) -> None:
        destinations = [sink.destination for sink in sinks]
        if not destinations:
            raise ConfigurationError("sinks", "there is none: batches would go nowhere")
        if spool is None and offline:
            raise ConfigurationError("spool", "offline, everything goes to the spool: give a folder")
        self.run_id = named = new_run_id() if run_id is None else run_id
        root = None if spool is None else default_spool() if isinstance(spool, Default) else Path(spool)

        def open_folder() -> Folder:
            assert root is not None  # noqa: S101 - only used where there is a spool
            return DiskFolder.open(root, named, destinations, limits=spool_limits, context=context)

        def find_leftovers() -> Iterator[Folder]:
            assert root is not None  # noqa: S101
            for destination in destinations:
                yield from leftovers(root, destination)

        super().__init__(
            WorkerSettings(
                sinks=tuple(sinks),
                new_delivery=None if offline else _sender,
                open_folder=None if root is None else open_folder,
                new_memory=lambda: MemoryFolder(named, destinations, max_batches=max_in_flight, context=context),
                run_id=named,
                max_queued_records=max_queued_records,
                max_queued_bytes=default_max_queued_bytes() if max_queued_bytes is None else max_queued_bytes,
                max_in_flight=max_in_flight,
                on_event=on_event,
                prepare=prepare,
                find_leftovers=tuple if root is None or offline else find_leftovers,
            )
        )


def _sender(sinks: Sequence[Sink], max_in_flight: int, listener: Listener) -> Sender:
    return Sender(sinks, max_in_flight=max_in_flight, listener=listener)
