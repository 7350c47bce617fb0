"""`uploader serve`: the receiver."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from uploader.cli.exits import Exit
from uploader.cli.output import report_error, report_missing

_KEY_VARIABLE: Final = "UPLOADER_RECEIVER_API_KEY"


def serve(
    data_dir: Annotated[Path, typer.Option(help="Where everything is stored; created when missing.", file_okay=False)],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 picks a free one.")] = 8083,
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar=_KEY_VARIABLE,
            help="The key that every request needs; without one everybody is let in. Other users see command lines "
            "(ps): better set the variable.",
        ),
    ] = None,
) -> None:
    """Receive uploads on this machine, until Ctrl-C or SIGTERM.

    The first line on standard output is the address, once it is listened on.
    """
    # The library takes an empty variable for none, which would let everybody in.
    if api_key is None and os.environ.get(_KEY_VARIABLE) is not None:
        api_key = os.environ[_KEY_VARIABLE]
    try:
        from uploader.receiver import ReceiverError, UnusableSettingError
        from uploader.receiver import serve as run_receiver
    except ModuleNotFoundError as error:
        report_missing(error, "receiver")
        raise typer.Exit(Exit.USAGE) from None
    try:
        run_receiver(data_dir, host, port, api_key)
    except UnusableSettingError as error:
        report_error(f"--api-key or {_KEY_VARIABLE}: {error.reason}")
        raise typer.Exit(Exit.USAGE) from None
    except (ReceiverError, OSError) as error:
        report_error(f"cannot serve {data_dir} on {host}:{port}: {error}")
        raise typer.Exit(Exit.REFUSED) from None
