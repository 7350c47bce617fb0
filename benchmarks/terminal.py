"""The tables on the terminal."""

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.cells import Table as Made

_WIDTH = 80


def print_tables(tables: Iterable[Made], files: Iterable[Path]) -> None:
    """Print tables, at most 80 columns wide, and where the files are."""
    console = Console(width=_WIDTH, highlight=False)
    console.print()
    for table in tables:
        console.print(f"[bold]{table.title}[/bold]")
        shown = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for position, column in enumerate(table.columns):
            shown.add_column(column, justify="left" if position < table.num_labels else "right")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
        if table.note:
            console.print(f"[dim]{table.note}[/dim]")
        console.print()
    for file in files:
        console.print(f"wrote {file}", soft_wrap=True)
