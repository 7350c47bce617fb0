"""`uploader upload`: files of lines to the traces service."""

from pathlib import Path
from typing import Annotated

import typer

from uploader.cli.exits import Exit, exit_for, worst
from uploader.cli.interrupts import announced_interrupts
from uploader.cli.output import messages, report_error, results, shown
from uploader.cli.progress import Tally, upload_progress
from uploader.cli.sending import FileOutcome, FileSender
from uploader.cli.service_options import InFlightOption, KeyOption, TeamOption, UrlOption, in_option_names
from uploader.cli.tables import receipts_table, uploads_table
from uploader.client import TracesClient
from uploader.errors import ConfigurationError, UploaderError
from uploader.limits import DEFAULT_MAX_ATTEMPTS, DEFAULT_TARGET_BATCH_BYTES, MAX_IN_FLIGHT, MAX_REQUEST_BYTES
from uploader.models import LineFormat
from uploader.options import UploadArguments


def upload(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Files of JSON lines.", exists=True, dir_okay=False, readable=True),
    ],
    line_format: Annotated[LineFormat, typer.Option(help="What one line holds.")] = LineFormat.TRACE,
    url: UrlOption = None,
    api_key: KeyOption = None,
    team_id: TeamOption = None,
    context: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Kept with every trace; may be repeated.")
    ] = None,
    max_in_flight: InFlightOption = MAX_IN_FLIGHT,
    max_attempts: Annotated[int, typer.Option(min=1, help="Tries of each request.")] = DEFAULT_MAX_ATTEMPTS,
    compress: Annotated[str, typer.Option(metavar="LEVEL", help="A gzip level from 0 to 9, or off.")] = "1",
    batch_bytes: Annotated[
        int, typer.Option(min=1, max=MAX_REQUEST_BYTES, help="Uncompressed bytes at which a batch closes.")
    ] = DEFAULT_TARGET_BATCH_BYTES,
) -> None:
    """Upload files of JSON lines; doing it again stores nothing twice.

    A line that is no JSON is named, and nothing of its batch is sent. Ctrl-C lets the requests in flight end. In any
    case the receipts that came are printed.
    """
    try:
        arguments = UploadArguments(
            line_format=line_format,
            context=parse_context(context or []),
            max_in_flight=max_in_flight,
            max_attempts=max_attempts,
            compress=parse_compress(compress),
            target_batch_bytes=batch_bytes,
        )
        with TracesClient(api_key, url, team_id) as client:
            client.config.headers()  # a missing key is an error of usage, before any file is read
            outcomes = _send(client, arguments, files)
    except ConfigurationError as error:
        report_error(in_option_names(error))
        raise typer.Exit(Exit.USAGE) from None
    _print(outcomes)
    raise typer.Exit(worst(outcome.exit for outcome in outcomes))


def parse_context(pairs: list[str]) -> dict[str, str]:
    """The mapping that `NAME=VALUE` texts make.

    Raises:
        ConfigurationError: one has no name or no `=`, or a name comes twice.
    """
    context = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise ConfigurationError("--context", f"{pair!r} is not NAME=VALUE")
        if name in context:
            raise ConfigurationError("--context", f"{name!r} is given twice")
        context[name] = value
    return context


def parse_compress(text: str) -> bool | int:
    """The client's `compress` for the option's text.

    Raises:
        ConfigurationError: it is neither `off` nor a level.
    """
    if text == "off":
        return False
    if len(text) == 1 and text in "0123456789":
        return int(text)
    raise ConfigurationError("--compress", f"{text!r} is neither a gzip level from 0 to 9 nor off")


def _send(client: TracesClient, arguments: UploadArguments, files: list[Path]) -> list[FileOutcome]:
    outcomes = [FileOutcome(path, file_size=path.stat().st_size) for path in files]
    tally = Tally(sum(outcome.file_size for outcome in outcomes))
    with announced_interrupts(), upload_progress(messages(), tally) as progress:
        sender = FileSender(client, arguments, tally, progress)
        for outcome in outcomes:
            sender.send(outcome)
            if outcome.ends_all:
                break
    return outcomes


def _print(outcomes: list[FileOutcome]) -> None:
    console = results()
    for outcome in outcomes:
        if outcome.stored:
            console.print(receipts_table(outcome))
    console.print(uploads_table(outcomes))
    for outcome in outcomes:
        if isinstance(outcome.error, UploaderError | OSError):
            report_error(f"{shown(outcome.path)}: {outcome.problem}")
    if any(outcome.exit is Exit.UNREACHABLE for outcome in outcomes):
        report_error("not everything is stored: run the same command again later, nothing is stored twice")
    if any(exit_for(outcome.error) is Exit.INTERRUPTED for outcome in outcomes if outcome.error):
        report_error("interrupted")
