"""The command line of `python -m uploader.receiver`."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from uploader.receiver.errors import ReceiverError, UnusableSettingError
from uploader.receiver.server import DEFAULT_HOST, DEFAULT_PORT, serve
from uploader.receiver.settings import API_KEY_VARIABLE, ReceiverSettings

_LARGEST_PORT: Final = 65_535

LIMITS: Final[Mapping[str, str]] = {
    "max_request_bytes": "Uncompressed bytes of one upload; a longer one is refused.",
    "max_line_bytes": "Bytes of one line.",
    "max_lines": "Lines of one upload.",
    "max_traces_per_episode": "Traces of one episode.",
    "max_id_bytes": "UTF-8 bytes of an id.",
    "max_metadata_bytes": "Bytes of an upload's metadata.",
    "max_requests_in_flight": "Uploads taken at once; more are refused, for a while.",
    "workers": "Uploads checked at once, each with its longest line in memory.",
    "retry_after_s": "Seconds that whoever is refused for a while is told to wait.",
    "body_timeout_s": "Seconds of silence within a body after which a request is given up.",
    "hold_upload_s": "Seconds to wait before each upload is checked: for tests.",
}
"""What each setting besides the data directory and the key is for."""

_DEFAULTS: Final = {"workers": "one a core, 4 at most"}
"""Defaults that are not the same on every machine."""


def new_parser() -> argparse.ArgumentParser:
    """What reads the command line; what a setting is by default stands in its help."""
    parser = argparse.ArgumentParser(
        prog="python -m uploader.receiver",
        description="Receive uploads as uploader serve does, with an option for each limit.",
        epilog="exit code: 0 after Ctrl-C or SIGTERM; 1 where it cannot serve; 2 for usage",
    )
    add = parser.add_argument
    add(
        "--data-dir", type=Path, required=True, metavar="PATH", help="Where everything is stored; created when missing."
    )
    add("--host", default=DEFAULT_HOST, metavar="TEXT", help="The address to listen on. (default: %(default)s)")
    add(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        metavar="N",
        help="The port; 0 picks a free one. (default: %(default)s)",
    )
    add("--api-key", metavar="TEXT",
        help="The key that every request needs; without one everybody is let in. Other users see command lines (ps): "
        f"better set the variable. (default: ${API_KEY_VARIABLE})")  # fmt: skip
    levels = ["debug", "info", "warning", "error", "critical"]
    add("--log-level", default="info", choices=levels, metavar="|".join(levels),
        help="What is logged to standard error, at least. (default: %(default)s)")  # fmt: skip
    settings: dict[str, Any] = {field.name: field.default for field in fields(ReceiverSettings)}
    for name, text in LIMITS.items():
        kind, shown = type(settings[name]), _DEFAULTS.get(name, _number(settings[name]))
        add(f"--{name.replace('_', '-')}", type=kind, default=settings[name], help=f"{text} (default: {shown})",
            metavar="SECONDS" if name.endswith("_s") else "N")  # fmt: skip
    return parser


def _number(value: float) -> str:
    """A number as it is read: that of bytes in groups."""
    return f"{value:,}" if value > _LARGEST_PORT else f"{value:g}"


def run(arguments: list[str] | None = None) -> None:
    """Parse a command line, by default the process's, and serve.

    Raises:
        SystemExit: 2 for a command line that cannot be used, 1 when it cannot be served.
    """
    parser = new_parser()
    options = parser.parse_args(arguments)
    try:
        settings = ReceiverSettings(
            data_dir=options.data_dir,
            api_key=os.environ.get(API_KEY_VARIABLE) if options.api_key is None else options.api_key,
            **{name: getattr(options, name) for name in LIMITS},
        )
        serve(settings.data_dir, options.host, options.port, settings=settings, log_level=options.log_level)
    except UnusableSettingError as error:
        given = "" if error.name != "api_key" else f" or {API_KEY_VARIABLE}"
        parser.error(f"--{error.name.replace('_', '-')}{given}: {error.reason}")
    except (OSError, ReceiverError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
