"""The command line of `python -m uploader.receiver`."""

import argparse
import os
from dataclasses import fields
from pathlib import Path

from uploader.receiver.errors import ReceiverError, UnusableSettingError
from uploader.receiver.server import DEFAULT_HOST, DEFAULT_PORT, serve
from uploader.receiver.settings import API_KEY_VARIABLE, ReceiverSettings


def run(arguments: list[str] | None = None) -> None:
    """Parse a command line, by default the process's, and serve.

    Raises:
        SystemExit: 2 for a command line that cannot be used, 1 when it cannot be served.
    """
    parser = argparse.ArgumentParser(prog="python -m uploader.receiver", description="Serve the traces service.")
    parser.add_argument("--data-dir", type=Path, required=True, help="where everything is stored")
    parser.add_argument("--host", default=DEFAULT_HOST, help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--api-key", default=os.environ.get(API_KEY_VARIABLE), help=f"default: ${API_KEY_VARIABLE}")
    parser.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error", "critical"])
    limits = [field for field in fields(ReceiverSettings) if field.name not in ("data_dir", "api_key")]
    for field in limits:
        kind = type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default, help="%(default)s")
    options = parser.parse_args(arguments)
    try:
        settings = ReceiverSettings(
            data_dir=options.data_dir,
            api_key=options.api_key,
            **{field.name: getattr(options, field.name) for field in limits},
        )
        serve(settings.data_dir, options.host, options.port, settings=settings, log_level=options.log_level)
    except UnusableSettingError as error:
        given = "" if error.name != "api_key" else f" or {API_KEY_VARIABLE}"
        parser.error(f"--{error.name.replace('_', '-')}{given}: {error.reason}")
    except (OSError, ReceiverError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
