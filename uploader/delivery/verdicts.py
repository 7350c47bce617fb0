"""What an error says about the batch that met it. CONTRACT.md's table, as far as it concerns a queue.

Only 400, 409, 413 and 422 speak of the bytes. Whatever else goes wrong is the matter of the service, of the way there
or of a setting: the batch stays, and is tried again. A wrong address (404, a redirect, an answer that is none) would
otherwise set aside a whole run.
"""

from collections.abc import Mapping
from enum import Enum

from uploader.errors import (
    ConfigurationError,
    ForbiddenError,
    LineFormatConflictError,
    PayloadTooLargeError,
    PaymentRequiredError,
    RetryableAPIError,
    StoreBusyError,
    StoreRefusedError,
    UnauthorizedError,
    ValidationRejectedError,
)


class Verdict(Enum):
    """What is to be done."""

    LATER = "later"
    """The service is full: the same bytes again when it says, with fewer requests at once."""

    AGAIN = "again"
    """Whether it landed is unknown: the same bytes again."""

    DIVIDE = "divide"
    """Something in it is refused: in parts."""

    REJECT = "reject"
    """It will never be taken: set it aside."""

    STOP = "stop"
    """Nothing will be taken: credentials, or the account."""


_REQUEST_CODES = frozenset(
    {
        "digest_mismatch",
        "invalid_cursor",
        "invalid_filter",
        "invalid_idempotency_key",
        "invalid_metadata",
        "unsupported_schema_version",
    }
)
"""CONTRACT names the codes about a record or about size; the others, which are these, "are about the request: dividing
never helps". A refusal without a code, or with one that the contract lacks, may be about a record: it is divided."""

_REFUSALS = frozenset({429, 503})
"""CONTRACT: "refused before any work"."""

_VERDICTS: Mapping[type[BaseException], Verdict] = {
    UnauthorizedError: Verdict.STOP,
    PaymentRequiredError: Verdict.STOP,
    ForbiddenError: Verdict.STOP,
    ConfigurationError: Verdict.STOP,
    StoreRefusedError: Verdict.STOP,
    StoreBusyError: Verdict.LATER,
    LineFormatConflictError: Verdict.REJECT,
    PayloadTooLargeError: Verdict.DIVIDE,
}


def verdict_on(error: BaseException) -> Verdict:
    """What is to be done after an error of `Sink.send`."""
    if isinstance(error, RetryableAPIError):
        return Verdict.LATER if error.status_code in _REFUSALS else Verdict.AGAIN
    if isinstance(error, ValidationRejectedError):
        return Verdict.REJECT if error.code in _REQUEST_CODES else Verdict.DIVIDE
    for kind, verdict in _VERDICTS.items():
        if isinstance(error, kind):
            return verdict
    return Verdict.AGAIN
