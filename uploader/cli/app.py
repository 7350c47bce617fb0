"""The command line as a whole: its commands, its version, its exit codes."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from uploader.cli.convert import convert
from uploader.cli.exits import HELP, Exit
from uploader.cli.pull import pull
from uploader.cli.quickstart import quickstart
from uploader.cli.serve import serve
from uploader.cli.spool import list_runs, purge, show
from uploader.cli.spool_export import export
from uploader.cli.spool_resume import resume_runs
from uploader.cli.upload import upload

# Without completion nothing is installed into shells; without pretty exceptions no traceback shows local variables,
# one of which may be the key.
app = typer.Typer(
    name="uploader",
    help="Upload RL episodes and traces to the traces service.",
    epilog=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _command in (upload, convert, pull, serve, quickstart):
    app.command(epilog=HELP)(_command)

_spool = typer.Typer(
    name="spool",
    help="See, send, export and remove what waits on this machine, or was set aside.",
    epilog=HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_spool.command("list", epilog=HELP)(list_runs)
_spool.command(epilog=HELP)(show)
_spool.command("resume", epilog=HELP)(resume_runs)
_spool.command(epilog=HELP)(export)
_spool.command(epilog=HELP)(purge)
app.add_typer(_spool)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"uploader {version('unstall')}")
        except PackageNotFoundError:  # run from a source tree
            typer.echo("uploader (not installed)")
        raise typer.Exit


@app.callback()
def _common(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run a command line, its program name left out, and return the exit code."""
    try:
        app(list(arguments), prog_name="uploader")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else Exit.REFUSED if ended.code else Exit.DONE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return Exit.DONE
