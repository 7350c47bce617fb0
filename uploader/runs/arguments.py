"""What can be wrong with what a run is told."""

from collections.abc import Mapping

from uploader.arguments import MAX_TIMEOUT_S
from uploader.errors import ConfigurationError


def usable_step(step: object) -> None:
    """Let None and a whole number that is not negative through.

    Raises:
        ConfigurationError: it is neither.
    """
    if step is not None and (not isinstance(step, int) or isinstance(step, bool) or step < 0):
        raise ConfigurationError("step", f"it must be a whole number, 0 or more, not {step!r}")


def usable_work(work: object) -> None:
    """Let `train` and `eval` through.

    Raises:
        ConfigurationError: it is neither.
    """
    if work not in ("train", "eval"):
        raise ConfigurationError("work", f"it must be 'train' or 'eval', not {work!r}")


def usable_values(name: str, values: object) -> None:
    """Let values by name through.

    Raises:
        ConfigurationError: it is no mapping.
    """
    if not isinstance(values, Mapping):
        raise ConfigurationError(name, f"it must be a mapping of names to values, not {type(values).__name__}")


def usable_seconds(name: str, seconds: object) -> float:
    """A time limit, 0 or more.

    Raises:
        ConfigurationError: it is none.
    """
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 <= seconds <= MAX_TIMEOUT_S:
        raise ConfigurationError(name, f"it must be seconds, 0 or more, not {seconds!r}")
    return float(seconds)
