"""`python -m uploader.receiver`: the receiver without the command line extra."""

import argparse
import os
from dataclasses import fields
from pathlib import Path
from typing import Final

from uploader.receiver.errors import ReceiverError
from uploader.receiver.server import DEFAULT_HOST, DEFAULT_PORT, serve
from uploader.receiver.settings import ReceiverSettings

#: The environment's name for `--api-key`, so that the key need not stand in the list of processes.
API_KEY_VARIABLE: Final = "UPLOADER_RECEIVER_API_KEY"


def main(arguments: list[str] | None = None) -> None:
    """Parse the command line and serve."""
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
    settings = ReceiverSettings(
        data_dir=options.data_dir,
        api_key=options.api_key or None,
        **{field.name: getattr(options, field.name) for field in limits},
    )
    try:
        serve(settings.data_dir, options.host, options.port, settings=settings, log_level=options.log_level)
    except (OSError, ReceiverError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
