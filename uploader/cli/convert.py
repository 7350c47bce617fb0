"""`uploader convert`: chats become episode lines."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from uploader.cli.exits import Exit
from uploader.cli.outfile import same_file, whole_file
from uploader.cli.output import amount, counted, messages, report_error, shown


class NothingToWriteError(Exception):
    """No chat became an episode, so that there is no file to write."""


@dataclass
class Counts:
    """What a conversion came to.

    Attributes:
        written: episodes written.
        duplicates: chats left out, being the same as an earlier one.
        refused: chats that cannot become episodes.
        size: bytes written.
    """

    written: int = 0
    duplicates: int = 0
    refused: int = 0
    size: int = 0


def convert(
    chats: Annotated[
        Path, typer.Argument(metavar="CHATS", help="A file of chats, one a line.", exists=True, dir_okay=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="EPISODES", help="The file to write; - is standard output.")
    ],
) -> None:
    """Convert OpenAI-style chats into episode lines.

    A line is an object with `messages`, and perhaps a `reward`; other keys are kept in the trace's `info`. Chats that
    cannot become episodes are named by their line, and the others are written. The same chat twice is written once. The
    output appears when it is whole, and is never the file of the chats itself.
    """
    if same_file(chats, output):
        report_error(f"{shown(output)} is the file of the chats itself: name another file with --output")
        raise typer.Exit(Exit.USAGE)
    try:
        counts = convert_all(chats, output)
    except KeyboardInterrupt:
        report_error("interrupted; nothing was written")
        raise typer.Exit(Exit.INTERRUPTED) from None
    except OSError as error:
        report_error(f"{shown(error.filename or chats)}: {error.strerror or error}")
        raise typer.Exit(Exit.REFUSED) from None
    if not counts.written and not counts.refused:
        report_error(f"{shown(chats)}, line 1: the file holds no chat")
    duplicates = f", {counted(counts.duplicates, 'duplicate')} left out" if counts.duplicates else ""
    refused = f", {counted(counts.refused, 'chat')} refused" if counts.refused else ""
    typer.echo(f"{counted(counts.written, 'episode')}, {amount(counts.size)}{duplicates}{refused}", err=True)
    raise typer.Exit(Exit.DONE if counts.written and not counts.refused else Exit.REFUSED)


def convert_all(chats: Path, output: Path) -> Counts:
    """Convert a file, saying on standard error what cannot be converted.

    Raises:
        OSError: a file cannot be read or written.
    """
    from uploader.cli.chats import convert_file  # here, since the encoder takes its time to import

    counts = Counts()
    with suppress(NothingToWriteError), whole_file(output) as file, _progress(chats) as progress:
        for converted in convert_file(chats):
            if converted.problem is not None:
                counts.refused += 1
                progress.say(f"uploader: {shown(chats)}, line {converted.line_number}: {converted.problem}")
            elif converted.is_duplicate:
                counts.duplicates += 1
            else:
                counts.written += 1
                counts.size += file.write(converted.encoded + b"\n")
            progress.advance(converted.size)
        if not counts.written:
            raise NothingToWriteError
    return counts


class _Shown(Protocol):
    def advance(self, size: int) -> None: ...

    def say(self, text: str) -> None: ...


class _Plain:
    def advance(self, size: int) -> None:
        pass

    def say(self, text: str) -> None:
        typer.echo(text, err=True)


class _Bar:
    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("converting", total=total)

    def advance(self, size: int) -> None:
        self._progress.advance(self._task, size)

    def say(self, text: str) -> None:
        self._progress.console.print(text)


@contextmanager
def _progress(path: Path) -> Iterator[_Shown]:
    console = messages()
    if not console.is_terminal:
        yield _Plain()
        return
    columns = (TextColumn("{task.description}"), BarColumn(20), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(compact=True), console=console) as progress:
        yield _Bar(progress, path.stat().st_size)
