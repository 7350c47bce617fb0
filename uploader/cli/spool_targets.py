"""Where `uploader spool resume` sends to, and what it says of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from uploader.cli.output import amount, counted, report_error, results, shown
from uploader.cli.spool_told import print_told, told_json
from uploader.config import Config
from uploader.delivery.resume import Resumed
from uploader.runs.telling import Told
from uploader.sinks.base import Sink
from uploader.sinks.choosing import is_service, store_sink
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination
from uploader.spool.scan import RunFolderReport


@dataclass(frozen=True)
class Targets:
    """Where to send what waits.

    Attributes:
        services: the traces service: under every name, and with `--redirect` in the place of the others.
        stores: the object stores and folders.
        elsewhere: how many batches wait for other services or teams.
    """

    services: Sequence[Destination]
    stores: Sequence[Destination]
    elsewhere: Mapping[Destination, int]

    @property
    def groups(self) -> list[Sequence[Destination]]:
        """What is sent one after the other; a group ends at its first error, and the next ones do not care."""
        return [each for each in (self.services, *([store] for store in self.stores)) if each]


def targets_of(reports: Sequence[RunFolderReport], config: Config, *, redirect: bool) -> Targets:
    """The targets for what a spool holds."""
    batches: dict[Destination, int] = {}
    for report in reports:
        for destination, total in report.waiting_for.items():
            batches[destination] = batches.get(destination, 0) + total.batches
    services = sorted(filter(is_service, batches), key=str)
    own = [each for each in services if redirect or (each.place, each.team) == (config.base_url, config.team_id)]
    stores = sorted((each for each in batches if not is_service(each)), key=str)
    return Targets(own, stores, {each: batches[each] for each in services if each not in own})


def sink_for(destination: Destination, config: Config) -> Sink:
    """A sink for what waits for a destination.

    Raises:
        ConfigurationError: there can be none.
    """
    return TracesSink(config, destination=destination) if is_service(destination) else store_sink(destination)


def print_resumed(
    found: Sequence[Resumed],
    reports: Sequence[RunFolderReport],
    targets: Targets,
    told: Sequence[Told],
    *,
    as_json: bool,
) -> None:
    """Say what was sent and told, and what was not and why."""
    if as_json:
        typer.echo(json.dumps([*map(_json, found), *map(told_json, told)], indent=2))
    elif found:
        results().print(_table(found))
    elif not told:
        typer.echo("nothing to send")
    print_told(told, as_json=as_json)
    for result in found:
        for problem in result.problems:
            report_error(shown(str(problem)))
        if result.error is not None and result.left_batches:
            report_error(f"{counted(result.left_batches, 'batch', 'batches')} left: {result.error}")
    own = {*targets.services, *targets.stores}
    in_use = [report for report in reports if report.locked and own & set(report.waiting_for)]
    if in_use:
        report_error(f"{counted(len(in_use), 'run')} in use: they send their batches themselves")
    for destination, batches in sorted(targets.elsewhere.items(), key=str):
        place = destination.place + (f", team {destination.team}" if destination.team else "")
        report_error(f"{counted(batches, 'batch waits', 'batches wait')} for {shown(place)}: --url, or --redirect")


def _table(found: Sequence[Resumed]) -> Table:
    table = Table()
    table.add_column("run", overflow="fold", ratio=1)
    several = len({result.destination and result.destination.place for result in found}) > 1
    if several:
        table.add_column("to", overflow="fold", ratio=1)
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
            *([Text(shown(result.destination.place if result.destination else ""))] if several else []),
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
        "place": None if result.destination is None else result.destination.place,
        "stored": {"batches": result.batches, "records": result.records, "compressed_bytes": result.sent_bytes},
        "rejected_records": result.rejected_records,
        "left": {"batches": result.left_batches, "records": result.left_records},
        "error": None if result.error is None else str(result.error),
    }
