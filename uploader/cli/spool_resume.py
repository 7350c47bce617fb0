"""`uploader spool resume`: sends what earlier runs left in the spool."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from uploader.cli.exits import Exit, exit_for
from uploader.cli.interrupts import announced_interrupts
from uploader.cli.output import amount, counted, messages, report_error, results, shown
from uploader.cli.service_options import InFlightOption, KeyOption, TeamOption, UrlOption, in_option_names
from uploader.cli.spool import JsonOption, SpoolOption, reported
from uploader.config import Config, load_config
from uploader.delivery.resume import Resumed, resume
from uploader.errors import ConfigurationError
from uploader.limits import MAX_IN_FLIGHT
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination
from uploader.spool.places import default_spool
from uploader.spool.scan import RunFolderReport, scan


def resume_runs(
    spool: SpoolOption = None,
    url: UrlOption = None,
    api_key: KeyOption = None,
    team_id: TeamOption = None,
    redirect: Annotated[
        bool, typer.Option("--redirect", help="Send also what was logged for other addresses or teams, to this one.")
    ] = False,
    max_in_flight: InFlightOption = MAX_IN_FLIGHT,
    as_json: JsonOption = False,
) -> None:
    """Send what waits for the service and team; runs in use are left alone.

    Nothing is stored twice, however often it is sent. A batch goes to the address and team that it was logged for,
    unless you say --redirect. Ctrl-C lets the requests in flight end.
    """
    with _settings():
        config = load_config(api_key, url, team_id)
        config.headers()  # a missing key is an error of usage, before anything is sent
    with reported():
        root = spool or default_spool()
        reports = scan(root)
    sinks = [TracesSink(config, destination=each) for each in _destinations(config, reports, redirect=redirect)]
    own = {sink.destination for sink in sinks}
    found: list[Resumed] = []
    try:
        with announced_interrupts(), messages().status(f"sending to {config.base_url}"):
            resume(root, sinks, max_in_flight=max_in_flight, on_folder=found.append)
    finally:
        _print(found, reports, own, as_json=as_json)
    raise typer.Exit(_exit(found))


@contextmanager
def _settings() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        report_error(in_option_names(error))
        raise typer.Exit(Exit.USAGE) from None


def _destinations(config: Config, reports: Sequence[RunFolderReport], *, redirect: bool) -> list[Destination]:
    own = TracesSink(config).destination
    others = {each for report in reports for each in report.waiting_for if each.sink == own.sink} - {own}
    return [own, *sorted(others, key=str)] if redirect else [own]


def _print(
    found: Sequence[Resumed], reports: Sequence[RunFolderReport], own: set[Destination], *, as_json: bool
) -> None:
    if as_json:
        typer.echo(json.dumps([_json(result) for result in found], indent=2))
    elif found:
        results().print(_table(found))
    else:
        typer.echo("nothing to send")
    for result in found:
        for problem in result.problems:
            report_error(f"{shown(problem.path)}: {problem.reason}")
        if result.error is not None and result.left_batches:
            report_error(f"{counted(result.left_batches, 'batch', 'batches')} left: {result.error}")
    in_use = [report for report in reports if report.locked and own & set(report.waiting_for)]
    if in_use:
        report_error(f"{counted(len(in_use), 'run')} in use: they send their batches themselves")
    for destination, batches in sorted(_elsewhere(reports, own).items(), key=str):
        place = destination.place + (f", team {destination.team}" if destination.team else "")
        report_error(f"{counted(batches, 'batch waits', 'batches wait')} for {shown(place)}: --url, or --redirect")


def _elsewhere(reports: Sequence[RunFolderReport], own: set[Destination]) -> dict[Destination, int]:
    """How many batches wait for the traces service at other addresses or for other teams."""
    names = {destination.sink for destination in own}
    totals: dict[Destination, int] = {}
    for report in reports:
        for destination, total in report.waiting_for.items():
            if destination.sink in names and destination not in own:
                totals[destination] = totals.get(destination, 0) + total.batches
    return totals


def _table(found: Sequence[Resumed]) -> Table:
    table = Table()
    table.add_column("run", overflow="fold", ratio=1)
    for name in ("batches", "records", "size", "set aside", "left"):
        table.add_column(name, justify="right")
    total = Resumed("all", Path())
    for result in found:
        total = replace(
            total,
            batches=total.batches + result.batches,
            records=total.records + result.records,
            sent_bytes=total.sent_bytes + result.sent_bytes,
            rejected_records=total.rejected_records + result.rejected_records,
            left_records=total.left_records + result.left_records,
        )
    for result in [*found, total] if len(found) > 1 else found:
        table.add_row(
            Text(shown(result.run_id)),
            f"{result.batches:,}",
            f"{result.records:,}",
            amount(result.sent_bytes),
            f"{result.rejected_records:,}",
            f"{result.left_records:,}",
        )
    return table


def _json(result: Resumed) -> dict[str, Any]:
    return {
        "run_id": result.run_id,
        "folder": shown(result.path),
        "stored": {"batches": result.batches, "records": result.records, "compressed_bytes": result.sent_bytes},
        "rejected_records": result.rejected_records,
        "left": {"batches": result.left_batches, "records": result.left_records},
        "error": None if result.error is None else str(result.error),
    }


def _exit(found: Sequence[Resumed]) -> Exit:
    errors = [result.error for result in found if result.error is not None]
    if errors:
        return exit_for(errors[-1])
    return Exit.REFUSED if any(result.rejected_records or result.problems for result in found) else Exit.DONE
