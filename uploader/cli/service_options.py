"""What the commands that talk to the service share: its options, and errors in their names."""

from typing import Annotated, Final

import typer

from uploader.errors import ConfigurationError, MissingAPIKeyError
from uploader.limits import MAX_IN_FLIGHT

UrlOption = Annotated[
    str | None, typer.Option(help="The service's address; otherwise PRIME_TRACES_URL or the configuration file.")
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        help="The API key. Other users see command lines (ps): "
        "better set PRIME_API_KEY, or api_key in ~/.prime/config.json."
    ),
]
TeamOption = Annotated[str | None, typer.Option(help="The team; otherwise PRIME_TEAM_ID or the configuration file.")]
InFlightOption = Annotated[int, typer.Option(min=1, max=MAX_IN_FLIGHT, help="Requests at once.")]

_OPTIONS: Final = {
    "api_key": "--api-key",
    "base_url": "--url",
    "context": "--context",
    "target_batch_bytes": "--batch-bytes",
    "team_id": "--team-id",
}
"""The command's names for the client's arguments, of those that the command line itself cannot check."""


def in_option_names(error: ConfigurationError) -> str:
    """What is wrong with a setting, in the names of the command's options instead of the client's arguments."""
    if isinstance(error, MissingAPIKeyError):
        return "no API key: set PRIME_API_KEY, put api_key into ~/.prime/config.json, or give --api-key"
    option = _OPTIONS.get(error.option, error.option)
    return f"{option}: {error.reason}".replace(f"argument {error.option} ", f"{option} ")
