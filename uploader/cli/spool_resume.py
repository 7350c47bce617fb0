"""`uploader spool resume`: sends what earlier runs left in the spool."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from uploader.cli.exits import Exit, exit_for, worst
from uploader.cli.interrupts import announced_interrupts
from uploader.cli.output import messages, report_error, shown
from uploader.cli.service_options import InFlightOption, KeyOption, TeamOption, UrlOption, in_option_names
from uploader.cli.spool import JsonOption, SpoolOption, reported
from uploader.cli.spool_targets import Targets, print_resumed, sink_for, targets_of
from uploader.cli.spool_told import Platforms
from uploader.config import load_config
from uploader.delivery.resume import Resumed, put_in_order, resume, together
from uploader.errors import ConfigurationError
from uploader.limits import MAX_IN_FLIGHT
from uploader.runs.telling import Told
from uploader.spool.batches import Destination
from uploader.spool.places import default_spool
from uploader.spool.scan import scan


def resume_runs(
    spool: SpoolOption = None,
    url: UrlOption = None,
    api_key: KeyOption = None,
    team_id: TeamOption = None,
    redirect: Annotated[
        bool,
        typer.Option("--redirect", help="Send also what was logged for other services or teams, to this service."),
    ] = False,
    max_in_flight: InFlightOption = MAX_IN_FLIGHT,
    as_json: JsonOption = False,
) -> None:
    """Send what waits for the service and team, for stores and for folders; runs in use are left alone.

    Nothing is stored twice, however often it is sent. A batch goes to the address and team that it was logged for,
    unless you say --redirect; stores take their credentials from the environment. A platform that did not hear of a
    run's metrics or of its end is told then. Ctrl-C lets the requests in flight end.

    A damaged batch is set aside, with the number of records that it held, and the exit code is 1. What waits for
    other services or teams, or in runs in use, was not asked for: it is named, and the exit code stays 0.
    """
    with _settings():
        config = load_config(api_key, url, team_id)
    with reported():
        root = spool or default_spool()
        targets = targets_of(scan(root), config, redirect=redirect)
    with _settings():
        platforms = Platforms(config)
        if targets.services or platforms.is_anything_for(root):
            config.headers()  # a missing key is an error of usage, before anything is sent
    found: list[Resumed] = []
    told: list[Told] = []
    unusable: list[tuple[Destination, ConfigurationError]] = []
    try:
        with announced_interrupts():
            if targets.disordered:
                found += filter(None, map(put_in_order, targets.disordered))
                with reported():
                    targets = targets_of(scan(root), config, redirect=redirect)
            for group in targets.groups:
                try:
                    sinks = [sink_for(each, config) for each in group]
                except ConfigurationError as error:
                    unusable.append((group[0], error))
                    continue
                with messages().status(f"sending to {shown(sinks[0].destination.place)}"):
                    resume(root, sinks, max_in_flight=max_in_flight, on_folder=found.append)
            platforms.tell(root, told)
    finally:
        found = together(found)
        print_resumed(found, targets, told, as_json=as_json)
        for destination, problem in unusable:
            report_error(f"{shown(destination.place)}: {problem.reason}")
    raise typer.Exit(_exit(found, told, unusable, targets))


@contextmanager
def _settings() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        report_error(in_option_names(error))
        raise typer.Exit(Exit.USAGE) from None


def _exit(found: Sequence[Resumed], told: Sequence[Told], unusable: Sequence[object], targets: Targets) -> Exit:
    errors = [*(result.error for result in found), *(result.error for result in told)]
    exits = [exit_for(error) for error in errors if error is not None]
    exits += [Exit.REFUSED for result in told if result.refused]
    exits += [Exit.REFUSED for result in found if result.rejected_records or result.problems or result.left_batches]
    exits += [Exit.REFUSED] if targets.unreadable else []
    if unusable:
        exits.append(Exit.REFUSED if any(result.batches for result in found) else Exit.USAGE)
    return worst(exits)
