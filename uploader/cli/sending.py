"""One file to the service, and what has become of it."""

import re
import time
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from uploader.cli.checking import CHAT_HINT, BadLineError, checked_lines, looks_like_chat
from uploader.cli.exits import Exit, exit_for
from uploader.cli.output import shown
from uploader.cli.progress import Tally, UploadProgress
from uploader.client import TracesClient
from uploader.errors import (
    LineFormatConflictError,
    PayloadTooLargeError,
    TraceTooLargeError,
    UploaderError,
    ValidationRejectedError,
)
from uploader.lines import file_lines, refuse_long_lines
from uploader.models import Batch, UploadReceipt
from uploader.options import UploadArguments
from uploader.retry import Sleep

_ARGUMENT = re.compile(r'line_format="(\w+)"')
"""What the client's errors call the command's option."""

_OF_THE_FILE = (
    BadLineError,
    TraceTooLargeError,
    ValidationRejectedError,
    LineFormatConflictError,
    PayloadTooLargeError,
    OSError,
)
"""Errors that say nothing about the next file."""


@dataclass
class FileOutcome:
    """What has become of a file.

    Attributes:
        path: the file.
        stored: the batches that the service has, in order, with their receipts.
        retries: how many requests had to be repeated.
        seconds: how long it took.
        error: what ended it, None when all went well.
        is_done: whether it came to an end; False when an earlier file stopped everything.
        blank_lines: the numbers of the lines that were skipped.
        file_size: the bytes of the file when the command started.
        holds_chats: whether what was refused looks like chats.
    """

    path: Path
    stored: list[tuple[Batch, UploadReceipt]] = field(default_factory=list)
    retries: int = 0
    seconds: float = 0.0
    error: BaseException | None = None
    is_done: bool = False
    blank_lines: list[int] = field(default_factory=list)
    file_size: int = 0
    holds_chats: bool = False

    @property
    def num_lines(self) -> int:
        """The lines that the service has."""
        return sum(batch.num_lines for batch, _ in self.stored)

    @property
    def size(self) -> int:
        """Their uncompressed bytes."""
        return sum(batch.size for batch, _ in self.stored)

    @property
    def exit(self) -> Exit:
        """The exit code that the file asks for."""
        if self.error is not None:
            return exit_for(self.error)
        return Exit.DONE if self.is_done else Exit.REFUSED

    @property
    def ends_all(self) -> bool:
        """Whether the next files would fare no better."""
        return self.error is not None and not isinstance(self.error, _OF_THE_FILE)

    @property
    def problem(self) -> str:
        """What went wrong, and what it means for the file's lines."""
        error = self.error
        if isinstance(error, OSError):
            return error.strerror or type(error).__name__
        if isinstance(error, BadLineError):
            return f"line {error.line_number}: {error.reason}; nothing of its batch was sent"
        batch = error.batch if isinstance(error, UploaderError) else None
        text = str(error) if batch is None else f"{self._of(batch)} not stored: {error}"
        text = _ARGUMENT.sub(r"--line-format \1", text)
        if self.holds_chats:
            text += CHAT_HINT
        return text

    def _of(self, batch: Batch) -> str:
        lines = self.line_range(batch)
        return f"line {lines} was" if batch.num_lines == 1 else f"lines {lines} were"

    def line_range(self, batch: Batch) -> str:
        """The lines of a batch, like `1-130`."""
        first = batch.first_line_number
        last = first + batch.num_lines - 1
        for blank in self.blank_lines[bisect_left(self.blank_lines, first) :]:
            if blank > last:
                break
            last += 1
        return f"{first}-{last}" if last > first else str(first)


class FileSender:
    """Sends files one after another, and keeps the tally."""

    def __init__(
        self, client: TracesClient, arguments: UploadArguments, tally: Tally, progress: UploadProgress
    ) -> None:
        self._client = client
        self._arguments = arguments
        self._tally = tally
        self._progress = progress

    def send(self, outcome: FileOutcome) -> None:
        """Send a file. What goes wrong becomes part of its outcome, an interrupt included."""
        started_s = time.monotonic()
        done_before = self._tally.done_bytes
        name = shown(outcome.path.name)

        def on_batch(batch: Batch, receipt: UploadReceipt) -> None:
            outcome.stored.append((batch, receipt))
            self._tally.batches += 1
            self._tally.done_bytes += batch.size
            self._progress.advanced(name)

        def on_retry(sleep: Sleep) -> None:
            outcome.retries += 1
            self._tally.retries += 1
            self._progress.noted(
                f"{name}: attempt {sleep.attempt} failed, the next in {sleep.delay_s:.1f} s: {sleep.error}"
            )

        arguments: UploadArguments = {**self._arguments, "on_batch": on_batch, "on_retry": on_retry}
        try:
            refuse_long_lines(outcome.path)
            self._client.upload_lines(checked_lines(outcome.path, outcome.blank_lines.append), **arguments)
            outcome.is_done = True
        except (UploaderError, OSError, KeyboardInterrupt) as error:
            outcome.error = error
            outcome.holds_chats = isinstance(error, ValidationRejectedError) and _starts_with_chat(outcome.path)
        finally:
            outcome.seconds = time.monotonic() - started_s
        # Blank lines, and what was refused, are dealt with too.
        self._tally.done_bytes = done_before + outcome.file_size


def _starts_with_chat(path: Path) -> bool:
    """Whether the first line of a file looks like a chat; False where it cannot be read any more."""
    with suppress(UploaderError, OSError):
        for line in file_lines(path):
            if not line.isspace():
                return looks_like_chat(line)
    return False
