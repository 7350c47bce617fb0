"""The tables that commands end with; none is wider than 80 columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from uploader.cli.exits import Exit
from uploader.cli.output import amount, counted, shown
from uploader.cli.sending import FileOutcome

if TYPE_CHECKING:
    from uploader.cli.trial import Result

_OUTCOMES = {
    Exit.DONE: "stored",
    Exit.REFUSED: "refused",
    Exit.USAGE: "refused",
    Exit.UNREACHABLE: "unreachable",
    Exit.INTERRUPTED: "interrupted",
}


def receipts_table(outcome: FileOutcome) -> Table:
    """The receipts of one file: which lines, under which upload id."""
    table = Table(title=shown(outcome.path), title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("lines", justify="right", overflow="fold", ratio=1)
    table.add_column("upload id", overflow="fold", width=64)
    for batch, receipt in outcome.stored:
        table.add_row(outcome.line_range(batch), Text(receipt.upload_id))
    return table


def uploads_table(outcomes: Sequence[FileOutcome]) -> Table:
    """What has become of each file."""
    table = Table()
    table.add_column("file", overflow="fold", ratio=1)
    for name in ("lines", "batches", "size", "per second", "retries"):
        table.add_column(name, justify="right")
    table.add_column("outcome")
    for outcome in outcomes:
        table.add_row(
            Text(shown(outcome.path.name)),
            f"{outcome.num_lines:,}",
            f"{len(outcome.stored):,}",
            amount(outcome.size),
            amount(outcome.size / outcome.seconds) if outcome.seconds else "",
            f"{outcome.retries:,}",
            _outcome(outcome),
        )
    return table


def _outcome(outcome: FileOutcome) -> str:
    if outcome.error is None and not outcome.is_done:
        return "not sent"
    return _OUTCOMES[outcome.exit]


def trial_table(result: "Result") -> Table:
    """What the quickstart found: each way's speed and stalls, then what is stored."""
    table = Table(caption=_stored(result), caption_justify="left", caption_style="")
    table.add_column(counted(result.taken, "episode"), ratio=1)
    for name in ("ms per\nepisode", "MB/s", "stall p99\nms", "typical\nworst ms", "worst\nms"):
        table.add_column(name, justify="right")
    for way in (result.idle, result.plain, result.ours, result.upload):
        if way.lags_ms:
            table.add_row(
                way.name,
                _milliseconds(way.seconds / way.episodes) if way.episodes else "",
                f"{way.size / way.seconds / 1e6:,.1f}" if way.seconds else "",
                *(f"{value:,.1f}" for value in (way.p99_ms, way.median_worst_ms, way.worst_ms)),
            )
    return table


def _milliseconds(seconds: float) -> str:
    """With a second decimal where it says something: real chats take less than a millisecond."""
    return f"{seconds * 1e3:,.1f}" if seconds >= 0.001 else f"{seconds * 1e3:.2f}"


def _stored(result: "Result") -> str:
    size, seconds = result.upload.size, result.upload.seconds
    return (
        f"{result.stored} of {counted(result.taken, 'episode')} stored and read back, byte for byte the same.\n"
        f"{amount(size)}, {amount(size / seconds if seconds else 0)}/s, {counted(result.requests, 'request')}, "
        f"compression ratio {result.sent_size / size if size else 0:.3f}."
    )
