"""What the service can answer, or fail to answer: one type for each row of the contract's table."""

from collections.abc import Mapping
from typing import ClassVar

from uploader.errors.base import UploaderError

_ADVICE_FOR_CODES: Mapping[str, str] = {
    "line_format_mismatch": 'upload episodes with line_format="episode", traces with line_format="trace" (the default)',
}
"""The service speaks of headers; callers give arguments."""


class APIError(UploaderError):
    """The service refused a request, or what it answered cannot be used.

    Attributes:
        message: what the service said, without the key should it have repeated it.
        status_code: the HTTP status, None when there was none.
        code: the service's code for the reason, like `digest_mismatch`; None when it gave none.
        attempts: how often the request was tried.
    """

    advice: ClassVar[str] = ""
    """What to do about it, unless the code says more; it ends the error's text."""

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
        advice = _ADVICE_FOR_CODES.get(self.code or "", self.advice)
        return f"{text}: {advice}" if advice else text


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

    advice = 'upload them as the first time, with line_format="episode" or line_format="trace" (the default)'


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
