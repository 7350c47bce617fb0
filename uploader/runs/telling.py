"""Tells the platform what it was not told of runs that have ended, in order: their metrics, then how they ended.

The file is renamed while it is read: what another process of the same run adds meanwhile makes a new one. Telling
something twice does no harm, so only what was told to the end is forgotten.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from uploader.errors import (
    APIError,
    RetryableAPIError,
    SpoolError,
    SpoolLockedError,
    TransportError,
)
from uploader.flow import Flow
from uploader.retry import RetryPolicy
from uploader.runs.courier import ACCOUNT_ERRORS, Courier
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.untold import Note
from uploader.spool.examine import State, examine, run_folders
from uploader.spool.files import translated
from uploader.spool.locks import FolderLock
from uploader.spool.names import METRICS, TELLING, UNTOLD, unquote_run
from uploader.spool.opening import remove_empty

NewCourier = Callable[[Note], Courier | None]
"""What tells a note's platform; None if that is not to be told."""

_LATER: Final = (TransportError, RetryableAPIError, *ACCOUNT_ERRORS)
"""After these the same may be told later; anything else is the platform's last word on a row of metrics."""


@dataclass
class Told:
    """What the platform was told of a run.

    Attributes:
        run_id: the run.
        path: its folder.
        url: the platform's address.
        metrics: the rows of metrics.
        refused: the rows that it does not want: they are in the folder's `metrics.jsonl` now.
        refusal: what it said of the last one.
        has_end: whether it was told of the run's end.
        left: what it was not told.
        error: why not; None where records of the run wait still, or where it is another platform's.
    """

    run_id: str
    path: Path
    url: str = ""
    metrics: int = 0
    refused: int = 0
    refusal: str = ""
    has_end: bool = False
    left: int = 0
    error: BaseException | None = None

    @property
    def is_anything(self) -> bool:
        """Whether there was anything to tell."""
        return bool(self.metrics or self.refused or self.has_end or self.left or self.error)


def untold(root: Path) -> list[Note]:
    """What there is to be told, of all runs.

    Raises:
        OSError: the spool cannot be listed.
    """
    return [note for path in _folders(root) for name in (TELLING, UNTOLD) for note in _notes(path / name)]


def tell(root: Path, new_courier: NewCourier, on_folder: Callable[[Told], object] = lambda _: None) -> list[Told]:
    """Tell of all runs that nobody uses; of the end of one only when no record of it waits any more.

    Args:
        root: the spool.
        new_courier: gives what tells a platform.
        on_folder: called with each folder's result, as far as it is known at the end of an interrupted one.
    """
    results: list[Told] = []
    for path in _folders(root):
        told = Told(unquote_run(path.name), path)
        try:
            with _claimed(path):
                _tell_folder(path, told, new_courier)
        except SpoolLockedError:
            continue
        except SpoolError as error:
            told.error = told.error or error
        finally:
            if told.is_anything:
                results.append(told)
                on_folder(told)
    return results


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in run_folders(root) if any((path / name).exists() for name in (UNTOLD, TELLING)))


@contextmanager
def _claimed(path: Path) -> Iterator[None]:
    """The folder's lock."""
    with translated(path):
        lock = FolderLock(path)
        try:
            yield
            remove_empty(path)
        finally:
            lock.release()


def _notes(path: Path) -> list[Note]:
    """What is in a file; a line that was cut by a crash says nothing."""
    notes: list[Note] = []
    with suppress(FileNotFoundError):
        for line in path.read_bytes().splitlines():
            with suppress(ValueError):
                notes.append(Note.decode(orjson.loads(line)))
    return notes


def _tell_folder(path: Path, told: Told, new_courier: NewCourier) -> None:
    waits = any(batch.state is State.WAITING for batch in examine(path))
    while not told.left:  # first what an earlier one left
        if not (path / TELLING).exists():
            try:
                os.rename(path / UNTOLD, path / TELLING)
            except FileNotFoundError:
                break
        _tell_file(path / TELLING, told, new_courier, waits=waits)


def _tell_file(path: Path, told: Told, new_courier: NewCourier, *, waits: bool) -> None:
    rest = deque(_notes(path))
    left: list[Note] = []
    try:
        while rest:
            note = rest[0]
            is_late = note.ending is not None and (waits or left)
            if told.error is not None or is_late or not _tell(note, path.parent, told, new_courier):
                left.append(note)
            rest.popleft()
    finally:
        left += rest
        told.left = len(left)
        _rewrite(path, left)


def _tell(note: Note, folder: Path, told: Told, new_courier: NewCourier) -> bool:
    """Tell one thing; whether it is done with."""
    told.run_id = note.run_id
    courier = new_courier(note)
    if courier is None:
        return False
    told.url = note.url
    try:
        courier.run(_flow(courier, note), threading.Event())
    except APIError as error:
        if note.metrics is None or isinstance(error, _LATER):
            told.error = error
            return False
        MetricsLog(folder / METRICS).append([note.metrics])
        told.refused, told.refusal = told.refused + 1, str(error)
        return True
    told.metrics += note.metrics is not None
    told.has_end = told.has_end or note.ending is not None
    return True


def _flow(courier: Courier, note: Note) -> Flow[None]:
    if note.ending is not None:
        return courier.platform.close(note.kind, note.run_id, note.ending)
    return courier.platform.add_metrics(note.kind, note.run_id, note.metrics or {}, RetryPolicy())


def _rewrite(path: Path, notes: list[Note]) -> None:
    """Let a file hold these notes alone, durably; none for no file."""
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    if notes:
        MetricsLog(part).append([note.encode() for note in notes])
        os.replace(part, path)
    else:
        path.unlink(missing_ok=True)
