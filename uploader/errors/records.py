"""What can be wrong with records and lines, which are set aside one by one."""

from typing import TypeAlias

from uploader.errors.base import UploaderError


class RecordError(UploaderError):
    """This record cannot become a line; nothing else is affected.

    The error of the record's own encoder, where there is one, is the `__cause__`.

    Attributes:
        line_number: the record's place in its source, counted from 1.
        reason: why it cannot be written.
    """

    def __init__(self, line_number: int, reason: str) -> None:
        super().__init__(line_number, reason)
        self.line_number = line_number
        self.reason = reason

    @property
    def index(self) -> int:
        """The record's place in its source, counted from 0."""
        return self.line_number - 1

    def __str__(self) -> str:
        return f"record {self.line_number} (index {self.index}): {self.reason}"


class TraceTooLargeError(UploaderError):
    """A line is longer than the service takes; it was not sent, and nothing else is affected.

    Attributes:
        line_number: the line's place in its source, counted from 1.
        size: its bytes, the LF not counted.
        limit: the largest number of bytes the service takes.
    """

    def __init__(self, line_number: int, size: int, limit: int) -> None:
        super().__init__(line_number, size, limit)
        self.line_number = line_number
        self.size = size
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"line {self.line_number} is {self.size} bytes, the service takes {self.limit} a line: "
            "leave it out, or make the record smaller"
        )


RecordFailure: TypeAlias = RecordError | TraceTooLargeError
"""Why a record was set aside."""

_MAX_NAMED = 10
"""How many records the text of an error names."""


class RecordsError(UploaderError):
    """Several records of an upload were set aside; all others are stored.

    `record_errors` has one error for each, in order, with its place, the reason and the cause.
    """

    def __init__(self, record_errors: tuple[RecordFailure, ...]) -> None:
        super().__init__(record_errors)
        self.record_errors = record_errors

    def __str__(self) -> str:
        named = [str(error) for error in self.record_errors[:_MAX_NAMED]]
        more = len(self.record_errors) - len(named)
        if more:
            named.append(f"and {more} more")
        return f"{len(self.record_errors)} records were left out, all others are stored: {'; '.join(named)}"
