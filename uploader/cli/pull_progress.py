"""How far a download is: a bar on a terminal, nothing elsewhere; what was done is said at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


@contextmanager
def pull_progress(console: Console, total: int, *, of_bytes: bool) -> Iterator[Callable[[int], None]]:
    """What is called with each step forward.

    Args:
        console: where the bar is.
        total: the sum of all steps.
        of_bytes: whether steps are bytes, or records.
    """
    if not console.is_terminal:
        yield lambda step: None
        return
    columns = [DownloadColumn(), TransferSpeedColumn()] if of_bytes else [MofNCompleteColumn(), TextColumn("records")]
    with Progress(
        TextColumn("pulling"), BarColumn(bar_width=20), *columns, TimeRemainingColumn(compact=True), console=console
    ) as progress:
        task = progress.add_task("pulling", total=total)
        yield lambda step: progress.advance(task, step)
