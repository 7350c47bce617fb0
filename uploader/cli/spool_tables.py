"""What the `spool` commands print: tables of at most 80 columns, or JSON."""

import json
from collections.abc import Sequence
from typing import Any, Final

import typer
from rich.table import Table
from rich.text import Text

from uploader.cli.output import amount, counted, shown
from uploader.clock import get_clock
from uploader.spool.batches import Destination
from uploader.spool.examine import BatchReport, State
from uploader.spool.scan import RunFolderReport, Total

_MAX_REASONS: Final = 10
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


def runs_table(reports: Sequence[RunFolderReport]) -> Table:
    """One line for each folder."""
    table = Table()
    table.add_column("run", overflow="fold", ratio=1)
    for name in ("batches", "records", "size", "oldest", "set aside"):
        table.add_column(name, justify="right")
    table.add_column("state")
    for report in reports:
        table.add_row(
            Text(shown(report.run_id)),
            f"{report.waiting.batches:,}",
            f"{report.waiting.records:,}",
            amount(report.waiting.compressed_size),
            age(report.oldest_created_at),
            _records(report.rejected),
            _state(report),
        )
    return table


def reasons_table(reports: Sequence[RunFolderReport]) -> Table:
    """Why records were set aside, and what is wrong with folders."""
    table = Table()
    table.add_column("run", overflow="fold", max_width=24)
    table.add_column("records", justify="right")
    table.add_column("reason", overflow="fold", ratio=1)
    for report in reports:
        rows = [
            (known_and_unknown(number - report.unknown_reasons[reason], report.unknown_reasons[reason]), reason)
            for reason, number in report.reasons.most_common(_MAX_REASONS)
        ]
        if (others := len(report.reasons) - _MAX_REASONS) > 0:
            rows.append(("", f"{counted(others, 'more reason')}: see uploader spool show, or --json"))
        rows += [(_number(batch.num_records), f"damaged: {batch.reason}") for batch in report.damaged]
        rows += [("", f"not the spool's: {path.name}") for path in report.other_files]
        rows += [("", report.problem)] if report.problem else []
        for number, reason in rows:
            table.add_row(Text(shown(report.run_id)), number, Text(shown(reason)))
    return table


def batches_table(run_id: str, reports: Sequence[BatchReport]) -> Table:
    """One line for each batch of a run."""
    table = Table(title=shown(run_id), title_justify="left", title_style="bold")
    table.add_column("batch", justify="right")
    table.add_column("kind")
    for name in ("records", "size", "age"):
        table.add_column(name, justify="right")
    table.add_column("waits for, or why it does not", overflow="fold", ratio=1)
    for report in reports:
        manifest = report.manifest
        table.add_row(
            str(report.name.seq),
            str(report.name.line_format),
            _number(report.num_records),
            amount(manifest.compressed_size) if manifest else "",
            age(manifest.created_at) if manifest else "",
            Text(shown(_why(report))),
        )
    return table


def age(since: float | None) -> str:
    """How long ago something was, in its largest unit."""
    if since is None:
        return ""
    seconds = max(0.0, get_clock().now().timestamp() - since)
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"


def known_and_unknown(records: int, unknown_batches: int) -> str:
    """A number of records, where nobody may know how many some batches hold."""
    if not unknown_batches:
        return f"{records:,}"
    return f"{records:,} + unknown" if records else "unknown"


def print_json(content: object) -> None:
    """Print JSON that every terminal takes, whatever a run is called."""
    typer.echo(json.dumps(content, indent=2))


def folder_json(report: RunFolderReport) -> dict[str, Any]:
    """A folder as JSON."""
    return {
        "run_id": report.run_id,
        "path": str(report.path),
        "in_use": report.locked,
        "oldest_created_at": report.oldest_created_at,
        "newest_created_at": report.newest_created_at,
        "waiting": _total_json(report.waiting),
        "destinations": [
            {**_destination_json(where), **_total_json(total)} for where, total in report.waiting_for.items()
        ],
        "rejected": {**_total_json(report.rejected), "reasons": dict(report.reasons)},
        "damaged": [batch_json(batch) for batch in report.damaged],
        "unfinished": [batch_json(batch) for batch in report.unfinished],
        "platform_untold": report.has_untold,
        "other_files": [str(path) for path in report.other_files],
        "problem": report.problem or None,
    }


def batch_json(report: BatchReport) -> dict[str, Any]:
    """A batch as JSON; a number that nobody knows is null."""
    manifest = report.manifest
    return {
        "path": str(report.data_path),
        "seq": report.name.seq,
        "digest": report.name.digest,
        "line_format": str(report.name.line_format),
        "state": str(report.state),
        "reason": report.reason or None,
        "records": report.num_records,
        "size": manifest.size if manifest else None,
        "compressed_size": manifest.compressed_size if manifest else None,
        "created_at": manifest.created_at if manifest else None,
        "context": dict(manifest.context) if manifest else None,
        "destinations": [
            {**_destination_json(where), "acknowledged": acknowledged}
            for places, acknowledged in ((manifest.waiting_for, False), (manifest.acknowledged_by, True))
            for where in places
        ]
        if manifest
        else None,
    }


def _destination_json(destination: Destination) -> dict[str, str]:
    return {"sink": destination.sink, "place": destination.place, "team": destination.team}


def _total_json(total: Total) -> dict[str, int]:
    return {
        "batches": total.batches,
        "records": total.records,
        "unknown_batches": total.unknown_batches,
        "size": total.size,
        "compressed_size": total.compressed_size,
    }


def _number(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _records(total: Total) -> str:
    return known_and_unknown(total.records, total.unknown_batches) if total.batches else ""


def _state(report: RunFolderReport) -> str:
    if report.problem:
        return "unreadable"
    if report.locked:
        return "in use"
    if report.damaged:
        return "damaged"
    if report.unfinished:
        return "unfinished"
    return "end untold" if report.has_untold else ""


def _why(report: BatchReport) -> str:
    if report.state is State.WAITING and report.manifest is not None:
        return "; ".join(
            f"{'' if each.sink == each.place else f'{each.sink}: '}{each.place}"
            f"{f' (team {each.team})' if each.team else ''}"
            for each in report.manifest.waiting_for
        )
    return f"{report.state}: {report.reason}"
