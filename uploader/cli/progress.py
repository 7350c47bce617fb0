"""How far an upload is: a bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from uploader.cli.output import amount, counted, shortened

_NAME_WIDTH = 14


@dataclass
class Tally:
    """What has happened so far.

    Attributes:
        total_bytes: the size of all files.
        done_bytes: how much of it is stored, or dealt with otherwise.
        batches: how many batches are stored.
        retries: how many requests had to be repeated.
    """

    total_bytes: int
    done_bytes: int = 0
    batches: int = 0
    retries: int = 0


class UploadProgress(Protocol):
    """Shows a tally; each method is told after the tally has changed."""

    def advanced(self, name: str) -> None:
        """Bytes were dealt with, of the file `name`."""

    def noted(self, text: str) -> None:
        """Something happened that is worth a line, such as a retry."""


@contextmanager
def upload_progress(console: Console, tally: Tally) -> Iterator[UploadProgress]:
    """The progress display that suits the console."""
    if not console.is_terminal:
        yield PlainLines(console, tally, time.monotonic())
        return
    with _bar(console) as progress:
        task = progress.add_task("uploading", total=tally.total_bytes, batches=0, retries=0)
        yield _Bar(progress, task, tally)


class PlainLines:
    """A line for each batch, for logs and pipes."""

    def __init__(self, console: Console, tally: Tally, started_s: float) -> None:
        self._console = console
        self._tally = tally
        self._started_s = started_s

    def advanced(self, name: str) -> None:
        """Print the tally."""
        line = progress_line(self._tally, time.monotonic() - self._started_s)
        self._console.print(f"{name}: {line}", soft_wrap=True)

    def noted(self, text: str) -> None:
        """Print the text."""
        self._console.print(text, soft_wrap=True)


def progress_line(tally: Tally, elapsed_s: float) -> str:
    """The tally in words, after `elapsed_s` seconds of work."""
    rate = tally.done_bytes / elapsed_s if elapsed_s > 0 else 0.0
    left = f"{(tally.total_bytes - tally.done_bytes) / rate:.0f} s left" if rate else "time left unknown"
    done = amount(tally.done_bytes, of=tally.total_bytes).partition(" ")[0]
    percent = 100 * tally.done_bytes // tally.total_bytes if tally.total_bytes else 100
    return (
        f"{done} of {amount(tally.total_bytes)} ({percent} %), {amount(rate)}/s, "
        f"{counted(tally.batches, 'batch', 'batches')}, {counted(tally.retries, 'retry', 'retries')}, {left}"
    )


class _Bar:
    def __init__(self, progress: Progress, task: TaskID, tally: Tally) -> None:
        self._progress = progress
        self._task = task
        self._tally = tally

    def advanced(self, name: str) -> None:
        self._progress.update(
            self._task,
            description=shortened(name, _NAME_WIDTH),
            completed=self._tally.done_bytes,
            batches=self._tally.batches,
        )

    def noted(self, text: str) -> None:
        self._progress.update(self._task, retries=self._tally.retries)
        self._progress.console.print(text)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=7),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("{task.fields[batches]} batches"),
        TextColumn("{task.fields[retries]} retries"),
        TimeRemainingColumn(compact=True),
        console=console,
    )
