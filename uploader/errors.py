"""What can go wrong while uploading.

UploaderError
├── ConfigurationError   an option cannot mean what it says
├── RecordError          a record cannot become a line
└── TraceTooLargeError   a line is beyond the service's limit
"""


class UploaderError(Exception):
    """The root of every error that `uploader` raises on purpose."""


class ConfigurationError(UploaderError):
    """An option has a value that cannot be used; nothing was done.

    Attributes:
        option: the option's name, like `compress`.
        reason: what is wrong with its value, and what to give instead.
    """

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(option, reason)
        self.option = option
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.option}: {self.reason}"


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
