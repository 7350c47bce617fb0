"""Where the batches of a run are read from: a folder, or an object store."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from uploader.clock import get_clock
from uploader.delivery.backoff import failure_pause_s
from uploader.errors import StoreError, StoreRefusedError
from uploader.models import LineFormat
from uploader.sinks.layout import StoredName, kind_folder, parse_name
from uploader.sinks.obstores import StoreAccess, claim, obstore_module, open_store, store_error, whole_place
from uploader.sinks.places import Place, PlaceKind
from uploader.sinks.writing import translated

if TYPE_CHECKING:
    import threading

    from obstore.store import ObjectStore

_REPEATS: Final = 4
"""How often obstore repeats a request, and we the reading of an object: a body that is cut is not repeated there."""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch in a store.

    Attributes:
        path: where, below the store's prefix.
        name: what the end of that says.
        line_format: what its lines hold.
        size: its compressed bytes.
        stored_at: when it was stored the last time, in seconds since the epoch.
    """

    path: str
    name: StoredName
    line_format: LineFormat
    size: int
    stored_at: float


class BatchSource(Protocol):
    """Batches of runs, as a sink has stored them. Any thread may call it."""

    def list(self, run_id: str) -> list[StoredBatch]:
        """All batches of a run, those stored first in front.

        Raises:
            StoreError: they cannot be listed.
        """

    def read(self, batch: StoredBatch) -> bytes | memoryview:
        """A batch's bytes as they are stored.

        Raises:
            StoreError: they cannot be read; status 404 if it is gone.
        """


def open_source(place: Place, stop: "threading.Event") -> BatchSource:
    """What a folder or an object store holds.

    Args:
        place: the folder or store.
        stop: set when nobody waits any more.

    Raises:
        ConfigurationError: the store's settings cannot be used, or obstore is not installed.
    """
    return FolderSource(place) if place.kind is PlaceKind.FOLDER else StoreSource(place, stop)


class FolderSource:
    """The batches in a folder.

    Args:
        place: the folder.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._root = place.folder

    def list(self, run_id: str) -> list[StoredBatch]:
        """All batches of a run, those stored first in front; a folder that is not there holds none."""
        return _in_order([*self._all(run_id, LineFormat.EPISODE), *self._all(run_id, LineFormat.TRACE)])

    def _all(self, run_id: str, line_format: LineFormat) -> Iterator[StoredBatch]:
        folder = kind_folder(run_id, line_format)
        with translated(str(self._place)), suppress(FileNotFoundError), os.scandir(self._root / folder) as entries:
            for entry in entries:
                if (name := parse_name(entry.name)) is not None and entry.is_file():
                    facts = entry.stat()
                    yield StoredBatch(f"{folder}/{entry.name}", name, line_format, facts.st_size, facts.st_mtime)

    def read(self, batch: StoredBatch) -> bytes:
        """A batch's bytes as they are stored."""
        try:
            with translated(str(self._place)):
                return Path(self._root, batch.path).read_bytes()
        except StoreError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise StoreError(error.place, error.reason, status_code=404) from error
            raise


class StoreSource:
    """The batches in an object store.

    Args:
        place: the store.
        stop: set when nobody waits any more.
    """

    def __init__(self, place: Place, stop: "threading.Event") -> None:
        self._place = whole_place(place, {})
        self._store: ObjectStore = open_store(self._place, StoreAccess(max_retries=_REPEATS))
        self._stop = stop

    def list(self, run_id: str) -> list[StoredBatch]:
        """All batches of a run, those stored first in front."""
        claim(self._place)
        return _in_order([*self._all(run_id, LineFormat.EPISODE), *self._all(run_id, LineFormat.TRACE)])

    def _all(self, run_id: str, line_format: LineFormat) -> Iterator[StoredBatch]:
        try:
            for page in obstore_module().list(self._store, kind_folder(run_id, line_format)):
                for meta in page:
                    if (name := parse_name(meta["path"].rpartition("/")[2])) is not None:
                        stored_at = meta["last_modified"].timestamp()
                        yield StoredBatch(meta["path"], name, line_format, meta["size"], stored_at)
        except Exception as error:  # noqa: BLE001 - obstore raises its own and Python's
            raise store_error(self._place, error) from None

    def read(self, batch: StoredBatch) -> memoryview:
        """A batch's bytes as they are stored."""
        attempt = 0
        while True:
            try:
                return memoryview(obstore_module().get(self._store, batch.path).bytes())
            except Exception as error:  # noqa: BLE001 - likewise
                attempt += 1
                failure = store_error(self._place, error)
                if attempt > _REPEATS or not _may_pass(failure) or self._stop.is_set():
                    raise failure from None
                get_clock().sleep(failure_pause_s(attempt, get_clock().jitter()), self._stop)


def _may_pass(error: Exception) -> bool:
    return isinstance(error, StoreError) and not isinstance(error, StoreRefusedError) and error.status_code != 404


def _in_order(batches: list[StoredBatch]) -> list[StoredBatch]:
    return sorted(batches, key=lambda batch: (batch.stored_at, batch.path))
