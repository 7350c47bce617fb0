"""What the receiver refuses, as one exception that knows its answer.

ReceiverError
├── RequestRefusedError   a request is answered with an error body; nothing of it is stored
├── UnusableSettingError  a setting has a value that a receiver cannot run with
├── DataDirInUseError     another receiver holds the data directory
└── ReceiverStartError    a receiver process ended before it accepted connections
"""

from pathlib import Path
from typing import Final


class ReceiverError(Exception):
    """The root of every error that the receiver raises on purpose."""


#: The status of every code that is not a 400.
_STATUS: Final[dict[str, int]] = {
    "unauthenticated": 401,
    "not_found": 404,
    "trace_not_found": 404,
    "episode_not_found": 404,
    "run_not_found": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "line_format_conflict": 409,
    "trace_not_indexed": 409,
    "run_closed": 409,
    "internal_error": 500,
    "ingest_capacity_exceeded": 503,
    "storage_unavailable": 503,
}


class RequestRefusedError(ReceiverError):
    """A request that is answered with `{"error": {"code", "message"}}`.

    Attributes:
        code: the contract's code.
        message: what is wrong and what to do about it.
        retry_after_s: seconds after which the same bytes may be sent again, None when that is pointless.
    """

    def __init__(self, code: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(code, message, retry_after_s)
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def status(self) -> int:
        """The HTTP status: 400 for every code without one of its own."""
        return _STATUS.get(self.code, 400)

    def body(self) -> dict[str, dict[str, str]]:
        """The answer's JSON value."""
        return {"error": {"code": self.code, "message": self.message}}


class UnusableSettingError(ReceiverError, ValueError):
    """A setting has a value that a receiver cannot run with.

    Attributes:
        name: the field of `ReceiverSettings`.
        reason: what is wrong with it and what to give instead; the value itself may be secret.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class DataDirInUseError(ReceiverError):
    """Another process serves this data directory.

    Attributes:
        data_dir: the directory.
    """

    def __init__(self, data_dir: Path) -> None:
        super().__init__(data_dir)
        self.data_dir = data_dir

    def __str__(self) -> str:
        return f"{self.data_dir} is served by another receiver: stop that one or choose another directory"


class ReceiverStartError(ReceiverError):
    """A receiver process ended, or kept silent, before it printed its URL.

    Attributes:
        returncode: how it ended, None when it was still running.
    """

    def __init__(self, returncode: int | None) -> None:
        super().__init__(returncode)
        self.returncode = returncode

    def __str__(self) -> str:
        ended = "printed no URL in time" if self.returncode is None else f"ended with {self.returncode}"
        return f"the receiver {ended}: its standard error says why"
