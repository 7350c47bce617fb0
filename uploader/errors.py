"""What can go wrong while uploading.

UploaderError                       receipts: what was committed all the same
├── ConfigurationError              an option, a setting or its file cannot be used
│   └── MissingAPIKeyError          there is no key, so there is no request
├── RecordError                     a record cannot become a line
├── TraceTooLargeError              a line is beyond the service's limit
├── RecordsError                    several records had to be left out
└── APIError                        the service refused, or could not be understood
    ├── ValidationRejectedError     400, 422: these bytes will never be taken
    ├── UnauthorizedError           401: the key is refused
    ├── PaymentRequiredError        402
    ├── ForbiddenError              403: the key lacks a scope, or the service is off for the account
    ├── NotFoundError               404
    ├── LineFormatConflictError     409: the same bytes were once sent under another line format
    ├── TraceNotIndexedError        409: nodes and calls cannot be listed yet
    ├── PayloadTooLargeError        413: a gateway takes no body of this size
    ├── RedirectError               3xx: the service is somewhere else
    ├── InvalidAnswerError          2xx with a body that the contract does not allow
    ├── RetryableAPIError           408, 429, 5xx: the same bytes may be sent again
    └── TransportError              no answer: refused, reset, cut short
        └── APITimeoutError         no answer in time
"""

import traceback
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from uploader.models import Batch, UploadReceipt


class UploaderError(Exception):
    """The root of every error that `uploader` raises on purpose.

    Attributes:
        receipts: what an upload had committed when this error ended it, in batch order.
        batch: the batch that failed, None when the error is not about one.
        record_errors: why records were set aside before this error, those that no `on_record_error` was told of; the
            error of a single record does not hold itself.
    """

    receipts: "tuple[UploadReceipt, ...]" = ()
    batch: "Batch | None" = None
    record_errors: "tuple[RecordFailure, ...]" = ()


class ConfigurationError(UploaderError, ValueError):
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


class MissingAPIKeyError(ConfigurationError):
    """There is no API key, so no request was made."""

    def __init__(
        self,
        option: str = "api_key",
        reason: str = "no API key: pass api_key, set PRIME_API_KEY, or put it into ~/.prime/config.json",
    ) -> None:
        super().__init__(option, reason)


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


class APIError(UploaderError):
    """The service refused a request, or what it answered cannot be used.

    Attributes:
        message: what the service said, without the key should it have repeated it.
        status_code: the HTTP status, None when there was none.
        code: the service's code for the reason, like `digest_mismatch`; None when it gave none.
        attempts: how often the request was tried.
    """

    advice: ClassVar[str] = ""
    """What to do about it; it ends the error's text."""

    def __init__(self, message: str, *, status_code: int | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        self.code = code
        self.attempts = 1

    def __str__(self) -> str:
        facts = [] if self.status_code is None else [f"HTTP {self.status_code}"]
        facts += [self.code] if self.code else []
        facts += [f"{self.attempts} attempts"] if self.attempts > 1 else []
        message = self.message.rstrip(".")
        text = f"{message} ({', '.join(facts)})" if facts else message
        return f"{text}: {self.advice}" if self.advice else text


class ValidationRejectedError(APIError):
    """400 or 422: nothing was stored, and the same bytes get the same verdict."""

    advice = "correct the data and upload it again"


class UnauthorizedError(APIError):
    """401: the key was refused."""

    advice = "check the API key (PRIME_API_KEY)"


class PaymentRequiredError(APIError):
    """402: the account has to be paid for first."""

    advice = "check the account's billing"


class ForbiddenError(APIError):
    """403: the key lacks the scope (`forbidden`), or the account has the service off (`service_not_enabled`)."""

    advice = "use a key with the scope this needs, or turn the service on for the account"


class NotFoundError(APIError):
    """404: there is no such trace, run or episode for this account."""


class LineFormatConflictError(APIError):
    """409: the same bytes were once sent under another line format."""

    advice = "upload them under the line format of the first time"


class TraceNotIndexedError(APIError):
    """409: the trace is there, but its nodes and calls are not indexed yet."""

    advice = "try again later, or read the raw trace"


class PayloadTooLargeError(APIError):
    """413: a gateway takes no request body of this size, and the batch cannot be divided further."""

    advice = "leave the line out or make the record smaller"


class RedirectError(APIError):
    """3xx: the service answers from another address, to which the key is not sent.

    Attributes:
        location: where the redirect points, without its query; None when it does not say.
    """

    advice = "set PRIME_TRACES_URL to the service's own address"

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        code: str | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(message, status_code=status_code, code=code)
        self.location = location


class InvalidAnswerError(APIError):
    """The service says that it succeeded, but its answer is not what the contract promises."""

    advice = "check that PRIME_TRACES_URL is the address of a traces service"


class RetryableAPIError(APIError):
    """408, 429 or 5xx: the same bytes may be sent again, since the service stores them once.

    Attributes:
        retry_after: the seconds that the service asked to wait, at most 60; None when it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, status_code=status_code, code=code)
        self.retry_after = retry_after


class TransportError(APIError):
    """There was no whole answer: the connection was refused, reset or cut short.

    Whether an upload landed is unknown; the same bytes may be sent again.
    """


class APITimeoutError(TransportError):
    """There was no answer in time."""


_MAX_CHAIN = 20
"""How far the causes of an error are followed: a chain may be a circle."""


def clear_frames(error: BaseException) -> None:
    """Let go of the variables in an error's tracebacks: megabytes of body, and the key. The lines themselves stay.

    Some tools print variables or send them away. What is still running keeps its own.
    """
    link: BaseException | None = error
    for _ in range(_MAX_CHAIN):
        if link is None:
            return
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
