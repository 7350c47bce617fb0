"""Where `uploader spool resume` sends to, and what it says of it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from uploader.cli.output import amount, counted, report_error, results, shown
from uploader.cli.spool_tables import known_and_unknown
from uploader.cli.spool_told import print_told, told_json
from uploader.config import Config
from uploader.delivery.resume import Resumed
from uploader.runs.telling import Told
from uploader.sinks.base import Sink
from uploader.sinks.choosing import SERVICE, is_service, store_sink
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination
from uploader.spool.scan import RunFolderReport


@dataclass(frozen=True)
class Targets:
    """Where to send what waits.

    Attributes:
        service: the configured service's address, and the team.
        services: the traces service: under every name, and with `--redirect` in the place of the others.
        stores: the object stores and folders.
        elsewhere: how many batches wait for other services or teams, damaged ones included.
        disordered: the folders that nobody uses and that hold something damaged or unfinished which may be for these
            targets: only when they are opened it turns out what is to be sent.
        in_use: how many folders with something for these targets are in use.
        unreadable: the folders that could not be looked at.
    """

    service: Destination
    services: Sequence[Destination]
    stores: Sequence[Destination]
    elsewhere: Mapping[Destination, int]
    disordered: Sequence[Path]
    in_use: int
    unreadable: Sequence[RunFolderReport]

    @property
    def groups(self) -> list[Sequence[Destination]]:
        """What is sent one after the other; a group ends at its first error, and the next ones do not care."""
        return [each for each in (self.services, *([store] for store in self.stores)) if each]


def targets_of(reports: Sequence[RunFolderReport], config: Config, *, redirect: bool) -> Targets:
    """The targets for what a spool holds."""
    service = Destination(SERVICE, config.base_url, config.team_id)

    def is_own(each: Destination) -> bool:
        is_here = (each.place, each.team) == (service.place, service.team)
        return redirect or is_here or not is_service(each)

    waiting = {destination for report in reports for destination in report.waiting_for}
    elsewhere: Counter[Destination] = Counter()
    for report in reports:
        for destination, batches in _batches(report).items():
            elsewhere[destination] += 0 if is_own(destination) else batches
    own = sorted(filter(is_own, waiting), key=str)
    return Targets(
        service=service,
        services=[each for each in own if is_service(each)],
        stores=[each for each in own if not is_service(each)],
        elsewhere=+elsewhere,
        disordered=[report.path for report in reports if not report.locked and _is_disordered(report, is_own)],
        in_use=sum(report.locked and any(map(is_own, _batches(report))) for report in reports),
        unreadable=[report for report in reports if report.problem and report.path.exists()],
    )


def _batches(report: RunFolderReport) -> Counter[Destination]:
    """How many batches there are for each destination, as far as the damaged ones tell."""
    batches = Counter({destination: total.batches for destination, total in report.waiting_for.items()})
    for batch in report.damaged:
        batches.update(() if batch.manifest is None else batch.manifest.waiting_for)
    return batches


def _is_disordered(report: RunFolderReport, is_own: Callable[[Destination], bool]) -> bool:
    """Whether something is unfinished, or damage may concern these destinations."""
    damaged = (batch.manifest is None or any(map(is_own, batch.manifest.waiting_for)) for batch in report.damaged)
    return not report.problem and (bool(report.unfinished) or any(damaged))


def sink_for(destination: Destination, config: Config) -> Sink:
    """A sink for what waits for a destination.

    Raises:
        ConfigurationError: there can be none.
    """
    return TracesSink(config, destination=destination) if is_service(destination) else store_sink(destination)


def print_resumed(found: Sequence[Resumed], targets: Targets, told: Sequence[Told], *, as_json: bool) -> None:
    """Say what waits on, then what was sent and told, and what was not and why."""
    _print_waiting(targets)
    if as_json:
        typer.echo(json.dumps([*map(_json, found), *map(told_json, told)], indent=2))
    elif found:
        results().print(_table(found))
    elif not told:
        typer.echo(f"nothing to send to {_named(targets.service)}" if targets.elsewhere else "nothing to send")
    print_told(told, as_json=as_json)
    problems = {str(problem): None for result in found for problem in result.problems}
    for problem in problems:  # a folder that was sent from twice may have told of one twice
        report_error(shown(problem))
    for result in found:
        if result.left_batches:
            why = "" if result.error is None else f": {result.error}"
            report_error(f"{counted(result.left_batches, 'batch', 'batches')} left{why}")


def _print_waiting(targets: Targets) -> None:
    for destination, batches in sorted(targets.elsewhere.items(), key=str):
        differs = {
            "--url": destination.place != targets.service.place,
            "--team-id": destination.team != targets.service.team,
        }
        options = " and ".join(option for option, is_other in differs.items() if is_other)
        place = _named(destination) + (", no team" if targets.service.team and not destination.team else "")
        report_error(f"{counted(batches, 'batch waits', 'batches wait')} for {place}: {options}, or --redirect")
    if targets.in_use:
        report_error(f"{counted(targets.in_use, 'run')} in use: they send their batches themselves")
    for report in targets.unreadable:
        report_error(f"{shown(report.path)}: {report.problem}")


def _named(destination: Destination) -> str:
    return shown(destination.place + (f", team {destination.team}" if destination.team else ""))


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
            problems=[*total.problems, *result.problems],
        )
    for result in [*found, total] if len(found) > 1 else found:
        table.add_row(
            Text(shown(result.run_id)),
            *([Text(shown(result.destination.place if result.destination else ""))] if several else []),
            f"{result.batches:,}",
            f"{result.records:,}",
            amount(result.sent_bytes),
            known_and_unknown(result.rejected_records, sum(each.num_records is None for each in result.damaged)),
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
        "damaged": [
            {"path": shown(each.path), "reason": each.reason, "records": each.num_records} for each in result.damaged
        ],
        "left": {"batches": result.left_batches, "records": result.left_records},
        "error": None if result.error is None else str(result.error),
    }
