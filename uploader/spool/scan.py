"""What a spool holds, run by run, and what earlier runs left there for a destination."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from uploader.errors import SpoolError
from uploader.spool.batches import Destination
from uploader.spool.examine import BatchReport, State, examine, other_files, run_folders
from uploader.spool.folder import DiskFolder
from uploader.spool.locks import is_locked
from uploader.spool.names import TELLING, UNTOLD, unquote_run


@dataclass
class Total:
    """Batches added up.

    Attributes:
        batches: how many.
        records: how many records they hold, as far as it is known.
        unknown_batches: how many of them hold nobody knows how many records.
        size: their uncompressed bytes, as far as they are known.
        compressed_size: the bytes of their files.
    """

    batches: int = 0
    records: int = 0
    unknown_batches: int = 0
    size: int = 0
    compressed_size: int = 0

    def add(self, batch: BatchReport) -> None:
        """Add one batch."""
        self.batches += 1
        self.records += batch.num_records or 0
        self.unknown_batches += batch.num_records is None
        if batch.manifest is not None:
            self.size += batch.manifest.size or 0
            self.compressed_size += batch.manifest.compressed_size


@dataclass
class RunFolderReport:
    """One folder of a run.

    Attributes:
        path: the folder.
        run_id: the run, as its batches tell, or else the folder's name.
        locked: whether somebody uses it now.
        waiting: what is to be sent.
        waiting_for: the same for each destination.
        oldest_created_at: when the oldest batch that waits was made; None if none waits.
        newest_created_at: the newest.
        rejected: what was set aside.
        reasons: for each reason of those how many records; a batch of which nobody knows counts as one.
        unknown_reasons: for each reason of such batches how many there are.
        damaged: batches that are not what was written.
        unfinished: what the next opening ends or undoes; in a folder in use, what is going on.
        has_untold: whether the platform is still to be told something of the run.
        other_files: what is none of the spool's.
        problem: why the folder could not be looked at; empty if it could.
    """

    path: Path
    run_id: str
    locked: bool = False
    waiting: Total = field(default_factory=Total)
    waiting_for: dict[Destination, Total] = field(default_factory=dict)
    oldest_created_at: float | None = None
    newest_created_at: float | None = None
    rejected: Total = field(default_factory=Total)
    reasons: Counter[str] = field(default_factory=Counter)
    unknown_reasons: Counter[str] = field(default_factory=Counter)
    damaged: list[BatchReport] = field(default_factory=list)
    unfinished: list[BatchReport] = field(default_factory=list)
    has_untold: bool = False
    other_files: list[Path] = field(default_factory=list)
    problem: str = ""

    def add(self, batch: BatchReport) -> None:
        """Count one batch."""
        if batch.manifest is not None:
            self.run_id = batch.manifest.run_id
        if batch.state is State.WAITING and batch.manifest is not None:
            self._add_waiting(batch, batch.manifest.created_at, batch.manifest.waiting_for)
        elif batch.state is State.REJECTED:
            self.rejected.add(batch)
            self.reasons[batch.reason] += 1 if batch.num_records is None else batch.num_records
            self.unknown_reasons[batch.reason] += batch.num_records is None
        elif batch.state is State.DAMAGED:
            self.damaged.append(batch)
        else:
            self.unfinished.append(batch)

    def _add_waiting(self, batch: BatchReport, created_at: float, waiting_for: tuple[Destination, ...]) -> None:
        self.waiting.add(batch)
        for destination in waiting_for:
            self.waiting_for.setdefault(destination, Total()).add(batch)
        self.oldest_created_at = min(created_at, self.oldest_created_at or created_at)
        self.newest_created_at = max(created_at, self.newest_created_at or created_at)


def scan_folder(path: Path, *, verify: bool = False) -> RunFolderReport:
    """What one folder holds; no batch is kept while the next is looked at.

    Args:
        path: the folder.
        verify: whether to read all lines, too, and compare them with their hash.
    """
    report = RunFolderReport(path, unquote_run(path.name))
    try:
        report.locked = is_locked(path)
    except OSError as error:
        report.problem = error.strerror or str(error)
    try:
        for batch in examine(path, verify=verify):
            report.add(batch)
        report.other_files = other_files(path)
        report.has_untold = any((path / name).exists() for name in (UNTOLD, TELLING))
    except OSError as error:
        report.problem = error.strerror or str(error)
    return report


def scan(root: Path, *, verify: bool = False) -> list[RunFolderReport]:
    """What a spool holds, folder by folder; one that does not exist holds nothing.

    Args:
        root: the spool.
        verify: whether to read all lines, too, and compare them with their hash.

    Raises:
        OSError: the spool itself cannot be listed. Whatever is wrong with its folders and files is in the reports.
    """
    return [scan_folder(path, verify=verify) for path in run_folders(root)]


def leftovers(root: Path, destination: Destination) -> Iterator[DiskFolder]:
    """The folders that nobody uses and that hold batches for this very destination, or damage that may concern it.

    Each is locked when it is come to; whoever takes it takes its problems and closes it. Its batches for other
    destinations are not the taker's to send. What is in use, or cannot be used, is passed over.

    Args:
        root: the spool.
        destination: the place and team that batches must wait for.
    """
    with suppress(OSError):
        for path in run_folders(root):
            folder = _opened(path, destination)
            if folder is not None:
                yield folder


def _opened(path: Path, destination: Destination) -> DiskFolder | None:
    """The folder, locked, if a batch in it waits for this destination."""
    with suppress(OSError, SpoolError):  # a SpoolLockedError above all
        if not any(_may_wait(batch, destination) for batch in examine(path)):
            return None
        folder = DiskFolder.open_existing(path)
        try:
            if any(destination in batch.waiting_for for batch in folder.iter_waiting()) or folder.has_problems:
                return folder
        except BaseException:
            folder.close()
            raise
        folder.close()
    return None


def _may_wait(batch: BatchReport, destination: Destination) -> bool:
    """Whether it is worth opening the folder: only that tells what becomes of a batch that is unfinished."""
    if batch.state is State.REJECTED:
        return False
    return batch.manifest is None or destination in batch.manifest.waiting_for
