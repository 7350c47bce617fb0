"""`uploader spool`: what is on this machine and not sent yet, or was set aside."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from uploader.cli.exits import Exit
from uploader.cli.output import amount, counted, report_error, results, shown
from uploader.cli.spool_tables import batch_json, batches_table, folder_json, print_json, reasons_table, runs_table
from uploader.errors import ConfigurationError, SpoolError
from uploader.spool.examine import examine
from uploader.spool.names import quote_run
from uploader.spool.places import default_spool
from uploader.spool.purging import purge as purge_folder
from uploader.spool.scan import RunFolderReport, scan

SpoolOption = Annotated[
    Path | None,
    typer.Option("--spool", metavar="DIR", help="The spool; otherwise the platform's place.", file_okay=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its folder's name.")]


@contextmanager
def reported() -> Iterator[None]:
    """Let what goes wrong with the spool end the command with a line on standard error."""
    try:
        yield
    except ConfigurationError as error:
        report_error(f"--spool: {error.reason}")
        raise typer.Exit(Exit.USAGE) from None
    except SpoolError as error:
        report_error(f"{shown(error.path)}: {error.reason}")
        raise typer.Exit(Exit.REFUSED) from None
    except OSError as error:
        report_error(f"{shown(error.filename or '')}: {error.strerror or error}")
        raise typer.Exit(Exit.REFUSED) from None


def folders_of(root: Path, run: str, *, verify: bool = False) -> list[RunFolderReport]:
    """The folders of a run, which is named by its id or by one folder's name.

    Raises:
        typer.Exit: there is none.
    """
    reports = scan(root, verify=verify)
    first = quote_run(run)
    found = [each for each in reports if each.run_id == run or each.path.name.partition("~")[0] == first]
    found = found or [each for each in reports if each.path.name == run]
    if not found:
        report_error(f"{shown(root)} holds nothing of a run {shown(run)}: uploader spool list shows what it holds")
        raise typer.Exit(Exit.USAGE)
    return found


def list_runs(spool: SpoolOption = None, as_json: JsonOption = False) -> None:
    """List the runs in the spool: what waits to be sent, and what was set aside and why."""
    with reported():
        root = spool or default_spool()
        reports = scan(root)
    if as_json:
        print_json([folder_json(report) for report in reports])
        return
    if not reports:
        typer.echo(f"nothing in {shown(root)}")
        return
    console = results()
    console.print(runs_table(reports))
    if any(report.reasons or report.damaged or report.problem or report.other_files for report in reports):
        console.print(reasons_table(reports))


def show(
    run: RunArgument,
    spool: SpoolOption = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read all lines, and compare them with their hash.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the batches of one run, and for whom each waits.

    With `--verify` the exit code is 1 when one is damaged.
    """
    with reported():
        found = folders_of(spool or default_spool(), run)
        reports = [batch for folder in found for batch in examine(folder.path, verify=verify)]
    if as_json:
        print_json([batch_json(report) for report in reports])
    else:
        results().print(batches_table(found[0].run_id, reports))
    if verify and any(report.state == "damaged" for report in reports):
        raise typer.Exit(Exit.REFUSED)


def purge(
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Runs by id, or folders by name.")] = None,
    spool: SpoolOption = None,
    every: Annotated[bool, typer.Option("--all", help="Every run.")] = False,
    rejected: Annotated[bool, typer.Option("--rejected", help="Only what was set aside.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove runs from the spool for good, sent or not. A run in use is left alone."""
    if bool(runs) == every:
        report_error("name the runs to remove, or give --all")
        raise typer.Exit(Exit.USAGE)
    with reported():
        root = spool or default_spool()
        found = scan(root) if every else [each for run in runs or [] for each in folders_of(root, run)]
    found = list({report.path: report for report in found}.values())
    if found and not yes:
        typer.confirm(f"Remove {_summary(found, rejected=rejected)} for good?", abort=True, err=True)
    removed, failed = [], False
    for report in found:
        try:
            removed.append(purge_folder(report.path, only_rejected=rejected))
        except SpoolError as error:
            failed = True
            report_error(f"{shown(error.path)}: {error.reason}")
    typer.echo(f"{_summary(removed, rejected=rejected)} removed")
    raise typer.Exit(Exit.REFUSED if failed else Exit.DONE)


def _summary(reports: list[RunFolderReport], *, rejected: bool) -> str:
    totals = [report.rejected for report in reports]
    if not rejected:
        totals += [report.waiting for report in reports]
    records, size = sum(total.records for total in totals), sum(total.compressed_size for total in totals)
    unknown = sum(total.unknown_batches for total in totals)
    if not rejected:
        unknown += sum(len(report.damaged) for report in reports)
    more = f" and {counted(unknown, 'damaged batch', 'damaged batches')}" if unknown else ""
    return f"{counted(records, 'record')}{more} ({amount(size)}) of {counted(len(reports), 'folder')}"
