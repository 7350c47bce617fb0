"""Where output goes: results to standard output, progress and errors to standard error, at most 80 columns wide."""

import os
from pathlib import Path
from typing import Final

import typer
from rich.console import Console

MAX_WIDTH: Final = 80


def results() -> Console:
    """The console for tables."""
    return _console(stderr=False)


def messages() -> Console:
    """The console for progress."""
    return _console(stderr=True)


def report_error(text: str) -> None:
    """Say what went wrong, on a line of standard error."""
    typer.echo(f"uploader: {text}", err=True)


def report_missing(error: ModuleNotFoundError, extra: str) -> None:
    """Say which package is missing, and how to install it."""
    report_error(f"{(error.name or '').partition('.')[0]} is missing: pip install 'unstall[{extra}]'")


def shown(path: Path | str) -> str:
    """A path as text that every terminal takes, whatever bytes it holds."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return "".join(char if char.isprintable() else "?" for char in text)


def shortened(text: str, width: int) -> str:
    """The end of a text, which tells files apart, in at most `width` characters."""
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def amount(size: float, of: float | None = None) -> str:
    """A number of bytes with its unit, KB or MB (10^3, 10^6 bytes).

    Args:
        size: the bytes.
        of: the bytes that choose the unit, by default `size`.
    """
    unit, name = (1e3, "KB") if (size if of is None else of) < 1e6 else (1e6, "MB")
    return f"{size / unit:,.1f} {name}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: `1 batch`, `2 batches`.

    Args:
        number: how many.
        noun: for one.
        plural: for any other number, by default the noun and an s.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, MAX_WIDTH)
    return console
