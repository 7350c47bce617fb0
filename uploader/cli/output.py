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


def megabytes(size: float) -> str:
    """A number of bytes in units of 10^6."""
    return f"{size / 1e6:,.1f}"


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, MAX_WIDTH)
    return console
