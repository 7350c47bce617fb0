"""The exit codes that scripts can rely on, and which error ends with which."""

from collections.abc import Iterable
from enum import IntEnum

from uploader.errors import ConfigurationError, RetryableAPIError, StoreError, StoreRefusedError, TransportError


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    """Everything that was asked for is done."""

    REFUSED = 1
    """Something was refused or lost; the output names it."""

    USAGE = 2
    """The command line or the configuration cannot be used; nothing was done."""

    UNREACHABLE = 3
    """The service gave no answer, or none but "later", in all attempts; the same command may be run again."""

    INTERRUPTED = 130
    """Ctrl-C."""


HELP = (
    "Exit codes: 0 all done; 1 something was refused or lost; 2 usage; "
    "3 the service is unreachable or overloaded, run it again later; 130 interrupted."
)


def exit_for(error: BaseException) -> Exit:
    """The exit code for an error that ended something."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED
    if isinstance(error, ConfigurationError):
        return Exit.USAGE
    if isinstance(error, TransportError | RetryableAPIError) or _is_store_away(error):
        return Exit.UNREACHABLE
    return Exit.REFUSED


def _is_store_away(error: BaseException) -> bool:
    """Whether a store gave no answer, or one that another time may be another; not that there is no such bucket."""
    if not isinstance(error, StoreError) or isinstance(error, StoreRefusedError):
        return False
    return error.status_code in (None, 408, 429) or error.status_code >= 500


def worst(exits: Iterable[Exit]) -> Exit:
    """The one exit code for several outcomes: an interrupt, then an unreachable service, then what was refused."""
    order = (Exit.INTERRUPTED, Exit.UNREACHABLE, Exit.REFUSED, Exit.USAGE, Exit.DONE)
    return min(exits, key=order.index, default=Exit.DONE)
