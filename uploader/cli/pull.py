"""`uploader pull`: a run's lines, from wherever it was sent, into one file."""

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from uploader.cli.exits import Exit, exit_for
from uploader.cli.outfile import whole_file
from uploader.cli.output import amount, counted, messages, report_error, shown
from uploader.cli.pull_progress import pull_progress
from uploader.cli.service_options import KeyOption, TeamOption, in_option_names
from uploader.client import TracesClient
from uploader.errors import ConfigurationError, StoreError, UploaderError
from uploader.models import LineFormat
from uploader.pulling.ahead import read_ahead
from uploader.pulling.merging import DamagedError, Merger
from uploader.pulling.service import find_records, read_record
from uploader.pulling.sources import open_source
from uploader.sinks.places import Place, PlaceKind, parse_place

_AT_ONCE: Final = 4
"""What is read ahead: so many batches, or records, are in memory."""


@dataclass
class Pulled:
    """What came of it.

    Attributes:
        lines: what was written.
        batches: out of how many batches; 0 where there are none.
        repeated: how many lines were left out, as they came before.
        size: the bytes written.
        damaged: what could not be written, and why.
    """

    lines: int = 0
    batches: int = 0
    repeated: int = 0
    size: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)


def pull(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="A traces service, s3://, gs://, az://, file://, or a folder.")
    ],
    run: Annotated[str, typer.Option("--run", metavar="ID", help="The run's id.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write; - is standard output.")
    ],
    line_format: Annotated[
        LineFormat | None, typer.Option(help="Which lines, where the run has traces and episodes.")
    ] = None,
    api_key: KeyOption = None,
    team_id: TeamOption = None,
) -> None:
    """Bring a run back as JSON lines, from the service or the store that it was sent to.

    Each line is written once, as it was logged, those stored first in front. The file appears when all is there. A
    batch that is not what was stored is named and left out, and the exit code is 1. Stores take their credentials from
    the environment.
    """
    with _reported():
        place = parse_place("URL", url)
        if place.kind is PlaceKind.SERVICE:
            with TracesClient(api_key, place.url, team_id) as client:
                client.config.headers()  # a missing key is an error of usage, before anything is asked
                pulled = _from_service(client, run, line_format, output)
        else:
            pulled = _from_store(place, run, line_format, output)
    for path, reason in pulled.damaged:
        report_error(f"{shown(path)}: {reason}")
    out_of = f" of {counted(pulled.batches, 'batch', 'batches')}" if pulled.batches else ""
    again = f", {pulled.repeated:,} that came twice left out" if pulled.repeated else ""
    typer.echo(f"{counted(pulled.lines, 'line')}{out_of}, {amount(pulled.size)}{again}", err=True)
    raise typer.Exit(Exit.REFUSED if pulled.damaged else Exit.DONE)


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        report_error(in_option_names(error).replace("--url", "URL"))  # which is no option here
        raise typer.Exit(Exit.USAGE) from None
    except UploaderError as error:
        report_error(str(error))
        raise typer.Exit(exit_for(error)) from None
    except OSError as error:
        report_error(f"{shown(error.filename or '')}: {error.strerror or error}")
        raise typer.Exit(Exit.REFUSED) from None


def _chosen(line_format: LineFormat | None, kinds: Collection[LineFormat], run: str, where: str) -> LineFormat:
    """The kind to pull.

    Raises:
        typer.Exit: there is none, or one must be chosen.
    """
    if not kinds:
        what = f"no {line_format}s" if line_format else "nothing"
        report_error(f"{shown(where)} holds {what} of a run {shown(run)}")
        raise typer.Exit(Exit.USAGE)
    if len(kinds) > 1:
        report_error("the run has traces and episodes: choose with --line-format")
        raise typer.Exit(Exit.USAGE)
    return next(iter(kinds))


def _from_store(place: Place, run: str, line_format: LineFormat | None, output: Path) -> Pulled:
    stop = threading.Event()
    source = open_source(place, stop)
    [(_, listed)] = read_ahead(source.list, [run], 1)  # obstore would not hear of Ctrl-C here
    batches = [each for each in listed() if line_format in (None, each.line_format)]
    _chosen(line_format, {each.line_format for each in batches}, run, str(place))
    damaged: list[tuple[str, str]] = []
    try:
        with (
            whole_file(output) as file,
            pull_progress(messages(), sum(each.size for each in batches), of_bytes=True) as advance,
        ):
            merger = Merger(file.write)
            for batch, content in read_ahead(source.read, batches, _AT_ONCE):
                try:
                    merger.add(batch, content())
                except DamagedError as error:
                    damaged.append((batch.path, str(error)))
                except StoreError as error:
                    if error.status_code != 404:
                        raise
                    damaged.append((batch.path, "it is gone"))
                advance(batch.size)
    finally:
        stop.set()
    return Pulled(merger.num_lines, merger.num_batches, merger.num_repeated, merger.size, damaged)


def _from_service(client: TracesClient, run: str, line_format: LineFormat | None, output: Path) -> Pulled:
    found = find_records(client, run, line_format)
    kind = _chosen(line_format, [kind for kind in LineFormat if found.ids(kind)], run, client.base_url)
    ids = found.ids(kind)
    with whole_file(output) as file, pull_progress(messages(), len(ids), of_bytes=False) as advance:
        merger = Merger(file.write)
        for _, content in read_ahead(partial(read_record, client, kind), ids, _AT_ONCE):
            merger.add_line([content()])
            advance(1)
    return Pulled(merger.num_lines, 0, merger.num_repeated, merger.size)
