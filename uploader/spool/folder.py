"""A run's folder on disk: who may use it, and for how long."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from uploader.errors import SpoolError, SpoolLockedError
from uploader.models import LineFormat
from uploader.sealing import SealedBatch
from uploader.spool.batches import Destination, SpooledBatch
from uploader.spool.files import translated
from uploader.spool.index import Entry
from uploader.spool.locks import FolderLock
from uploader.spool.manifest import Manifest
from uploader.spool.names import REJECTED, Role, folder_names, unquote_run
from uploader.spool.opening import remove_empty, take
from uploader.spool.room import Room, SpoolLimits
from uploader.spool.shelf import Shelf


class DiskFolder:
    """Keeps the batches of one run on disk, and is the only one that does while it is open.

    Any thread may call it. `open` is for a run, `open_existing` for what an earlier run left.
    """

    def __init__(
        self,
        shelf: Shelf,
        lock: FolderLock,
        destinations: Sequence[Destination] = (),
        limits: SpoolLimits | None = None,
        context: Mapping[str, str] | None = None,
    ) -> None:
        self._shelf = shelf
        self._lock = lock
        self._destinations = tuple(destinations)
        self._context = dict(context or {})
        self._room = Room(shelf.path, limits or SpoolLimits())
        self._changes = threading.Lock()
        self._is_closed = False

    @classmethod
    def open(
        cls,
        root: Path,
        run_id: str,
        destinations: Sequence[Destination],
        *,
        limits: SpoolLimits | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Self:
        """The first folder of this run that nobody uses; it is made when missing.

        Args:
            root: the spool.
            run_id: the run; any text.
            destinations: where its batches are to go.
            limits: the spool's bounds.
            context: names and values that the service keeps with each trace.

        Raises:
            SpoolLockedError: all are in use.
            SpoolError: there cannot be a folder.
        """
        for name in folder_names(run_id):
            with suppress(SpoolLockedError), translated(root / name):
                shelf, lock = take(root / name, run_id, make=True)
                return cls(shelf, lock, destinations, limits, context)
        raise SpoolLockedError(str(root), f"all folders of run {run_id!r} are in use")

    @classmethod
    def open_existing(cls, path: Path) -> Self:
        """A folder that an earlier run left, with what it still holds; nothing is added to it.

        Raises:
            SpoolLockedError: somebody uses it.
            SpoolError: it cannot be read or written, or is not there.
        """
        with translated(path):
            folder = cls(*take(path, unquote_run(path.name), make=False))
        for first in folder.iter_waiting():
            folder._shelf.run_id = first.run_id
            break
        return folder

    @property
    def path(self) -> Path:
        """The folder."""
        return self._shelf.path

    @property
    def run_id(self) -> str:
        """The run whose batches it keeps."""
        return self._shelf.run_id

    @property
    def used_bytes(self) -> int:
        """The compressed bytes that it keeps now, what was set aside not counted."""
        return self._shelf.index.used_bytes

    @property
    def has_problems(self) -> bool:
        """Whether there is something to take from `take_problems`."""
        return self._shelf.index.has_problems

    def take_problems(self) -> list[SpoolError]:
        """What was found damaged or could not be done since the last call: each is to be reported once.

        A `DamagedBatchError` says how many records were in the batch that has been set aside. Any other is about files
        that stay as they are until the folder is opened again.
        """
        return self._shelf.index.take_problems()

    def add(self, line_format: LineFormat, sealed: SealedBatch) -> SpooledBatch:
        """Keep a batch for all destinations of this run.

        Raises:
            SpoolFullError: there is no room for it now.
            SpoolError: it cannot be written.
        """
        self._check_open()
        with translated(self.path):
            self._room.check(self.used_bytes, sealed.compressed_size)
            return self._shelf.add(line_format, sealed, self._destinations, self._context).spooled

    def load(self, spooled: SpooledBatch) -> SealedBatch:
        """The batch's bytes, checked against the hash that was taken when it was written.

        Raises:
            DamagedBatchError: the bytes are not those that were written; the batch has been set aside.
            SpoolError: they cannot be read, or the batch is not kept any more.
        """
        self._check_open()
        with self._changes:
            entry, manifest = self._find(spooled)
        with translated(self.path / entry.name.file(Role.DATA)):
            pieces = self._shelf.load(manifest)
        if pieces is None:
            with self._changes:
                entry, _ = self._find(spooled)  # another sink's loading may have set it aside meanwhile
                raise self._shelf.set_damaged_aside(entry, "its lines are not those that were written")
        return SealedBatch(manifest.spooled.batch, pieces, manifest.content_encoding)

    def acknowledge(self, spooled: SpooledBatch, sink: str) -> bool:
        """Note that a sink has the batch; True if it was the last one, and the batch was let go.

        Where the disk does not take the note, that is a problem to report, and the sink may get the batch again.
        """
        with self._changes:
            found = self._shelf.find(spooled) if self._is_open else None
            return found is not None and self._shelf.acknowledge(*found, sink)

    def divide(self, spooled: SpooledBatch, parts: Sequence[SealedBatch]) -> list[SpooledBatch]:
        """Keep a batch's parts in its place, for the destinations that still wait; a crash leaves one or the other.

        The spool's bounds do not count here: for a moment it holds one batch more.

        Raises:
            SpoolError: the parts cannot be written, and the batch is where it was; or it is not kept any more.
        """
        with self._changes, translated(self.path):
            self._check_open()
            return [part.spooled for part in self._shelf.divide(*self._find(spooled), parts)]

    def set_aside(self, spooled: SpooledBatch, reason: str) -> None:
        """Move a batch to the rejected ones, with the reason; no sink waits for it any more.

        Where the disk does not take it, that is a problem to report.
        """
        with self._changes:
            found = self._shelf.find(spooled) if self._is_open else None
            if found is not None:
                self._shelf.set_aside(*found, reason)

    def set_aside_line(
        self, line_format: LineFormat, pieces: Iterator[bytes], reason: str, *, num_lines: int = 1
    ) -> None:
        """Keep a record that never came into a batch, or what could be written of it, with the reason; or several.

        Raises:
            SpoolError: it cannot be kept.
        """
        self._check_open()
        with translated(self.path / REJECTED):
            self._room.check(self.used_bytes, 0)
            self._shelf.set_aside_line(line_format, pieces, reason, num_lines)

    def iter_waiting(self) -> Iterator[SpooledBatch]:
        """What is kept and not acknowledged by all, in order; each manifest is read only when it is come to."""
        self._check_open()
        for entry in self._shelf.index.entries():
            with self._changes:
                is_here = self._is_open and self._shelf.index.get(entry.name.stem) is entry
                manifest = self._shelf.manifest(entry) if is_here else None
                if manifest is not None and not manifest.waiting_for:
                    self._shelf.let_go(entry)
            if manifest is not None and manifest.waiting_for:
                yield manifest.spooled

    def waiting(self) -> list[SpooledBatch]:
        """What is kept and not acknowledged by all, in order."""
        return list(self.iter_waiting())

    def sync(self) -> None:
        """Return once everything that was added would survive a loss of power (fsync of files and folder).

        Raises:
            SpoolError: the disk failed, and what it has is not known.
        """
        self._check_open()
        with translated(self.path):
            self._shelf.sync()

    def close(self) -> None:
        """Let go of the folder's lock; remove the folder if nothing is left in it."""
        with self._changes:
            if not self._is_open:
                return
            self._is_closed = True
            try:
                with suppress(OSError):
                    remove_empty(self.path)
            finally:
                self._lock.release()

    def abandon_after_fork(self) -> None:
        """In a child: close the inherited lock file, which leaves the lock to the parent. Nothing works any more."""
        self._changes = threading.Lock()  # some thread may have held the old one
        self._is_closed = True
        self._lock.abandon()

    def _find(self, spooled: SpooledBatch) -> tuple[Entry, Manifest]:
        if (found := self._shelf.find(spooled)) is None:
            raise SpoolError(str(self.path), f"batch {spooled.seq} is not kept any more")
        return found

    @property
    def _is_open(self) -> bool:
        """A forked child's is closed, whether or not somebody told it."""
        return self._lock.is_held and not self._is_closed

    def _check_open(self) -> None:
        if not self._is_open:
            raise SpoolError(str(self.path), "it is closed")
