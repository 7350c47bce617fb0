"""`uploader spool export`: a run's lines, out of the spool into one file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from uploader.cli.exits import Exit
from uploader.cli.outfile import Writer, whole_file
from uploader.cli.output import amount, counted, report_error, shown
from uploader.cli.spool import RunArgument, SpoolOption, folders_of, reported
from uploader.models import LineFormat
from uploader.spool import files
from uploader.spool.examine import BatchReport, State, examine
from uploader.spool.places import default_spool
from uploader.unpacking import UnpackError, unpacked


def export(
    run: RunArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write; - is standard output.")
    ],
    spool: SpoolOption = None,
    line_format: Annotated[
        LineFormat | None, typer.Option(help="Which lines, where the run has traces and episodes.")
    ] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="What was set aside, instead of what waits.")] = False,
) -> None:
    """Write a run's lines to one file, as they were logged and in order; the spool keeps them.

    A damaged batch is named and left out, and the exit code is 1.
    """
    with reported():
        wanted = State.REJECTED if rejected else State.WAITING
        found = folders_of(spool or default_spool(), run)
        reports = [batch for folder in found for batch in examine(folder.path, verify=True)]
        batches = [batch for batch in reports if batch.state is wanted]
        kinds = sorted({batch.name.line_format for batch in batches})
        if line_format is None and len(kinds) > 1:
            report_error("the run has traces and episodes: choose with --line-format")
            raise typer.Exit(Exit.USAGE)
        batches = [batch for batch in batches if line_format in (None, batch.name.line_format)]
        damaged = [batch for batch in reports if batch.state is State.DAMAGED and not rejected]
        size = written = 0
        with whole_file(output) as file:
            for batch in batches:
                try:
                    size += _write(batch, file)
                    written += 1
                except FileNotFoundError:
                    if rejected:
                        damaged.append(replace(batch, reason="its lines are missing"))
                    # Any other was sent meanwhile.
                except UnpackError as error:
                    damaged.append(replace(batch, reason=str(error)))
    for batch in damaged:
        report_error(f"{shown(batch.data_path)}: {batch.reason}")
    typer.echo(f"{counted(written, 'batch', 'batches')}, {amount(size)}", err=True)
    raise typer.Exit(Exit.REFUSED if damaged or not written else Exit.DONE)


def _write(batch: BatchReport, file: Writer) -> int:
    """Write a batch's lines, the last one with its LF, and say how many bytes they are."""
    size, last = 0, b"\n"
    for chunk in unpacked(files.read_pieces(batch.data_path), compressed=batch.name.compressed):
        size += file.write(chunk)
        last = chunk
    if not last.endswith(b"\n"):
        size += file.write(b"\n")
    return size
