"""How a run ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from uploader.errors import ConfigurationError


class Status(StrEnum):
    """What a run is doing, or how it ended."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Attributes:
        status: any but `running`.
        summary: its results.
        error: why, unless it is completed.
    """

    status: Status
    summary: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


def final_status(status: object) -> Status:
    """A status that a run can end with.

    Raises:
        ConfigurationError: it is none.
    """
    try:
        found = Status(str(status))
    except ValueError:
        found = Status.RUNNING
    if found is Status.RUNNING:
        raise ConfigurationError("status", f"it must be 'completed', 'failed' or 'cancelled', not {status!r}")
    return found
