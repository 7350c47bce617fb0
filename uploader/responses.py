"""What an answer means: the contract's table of statuses, as a value or a typed error.

The table is ERRORS; `error_from` looks a status up in it and reads the reason from whichever form the body has:
the service's envelope, a framework's `detail`, or text. The key is struck out wherever the service repeats it.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from uploader.errors import (
    APIError,
    ForbiddenError,
    InvalidAnswerError,
    LineFormatConflictError,
    NotFoundError,
    PayloadTooLargeError,
    PaymentRequiredError,
    RetryableAPIError,
    TraceNotIndexedError,
    UnauthorizedError,
    ValidationRejectedError,
)
from uploader.exchange import Response
from uploader.models import UploadReceipt
from uploader.retry import retry_after_seconds
from uploader.striking import strike_out

ModelT = TypeVar("ModelT", bound=BaseModel)

ERRORS: Mapping[int, type[APIError]] = {
    400: ValidationRejectedError,
    401: UnauthorizedError,
    402: PaymentRequiredError,
    403: ForbiddenError,
    404: NotFoundError,
    408: RetryableAPIError,
    409: LineFormatConflictError,
    413: PayloadTooLargeError,
    422: ValidationRejectedError,
    429: RetryableAPIError,
}
"""The type for each refusal. Every 5xx is retryable: whether it landed is unknown, and repeating is safe."""

_CONFLICTS: Mapping[str, type[APIError]] = {"trace_not_indexed": TraceNotIndexedError}

_MESSAGE_CHARS = 500
_CODE_CHARS = 100


def error_from(response: Response, api_key: str) -> APIError | None:
    """The typed error that a response is, None for a 2xx.

    Args:
        response: the answer.
        api_key: what must not appear in the error.
    """
    if response.is_success:
        return None
    status = response.status
    raw_code, raw_message = _reason(response)
    code = _shortened(strike_out(raw_code, api_key), _CODE_CHARS) or None
    message = _shortened(strike_out(raw_message, api_key), _MESSAGE_CHARS) or "no reason given"
    cls = ERRORS.get(status, RetryableAPIError if status >= 500 else APIError)
    if status == 409 and code:
        cls = _CONFLICTS.get(code, cls)
    if cls is RetryableAPIError:
        delay_s = retry_after_seconds(response.headers.get("retry-after"), response.received_at)
        return RetryableAPIError(message, status_code=status, code=code, retry_after=delay_s)
    return cls(message, status_code=status, code=code)


def receipt_from(response: Response, digest: str) -> UploadReceipt:
    """The receipt in a successful answer to an upload.

    Raises:
        InvalidAnswerError: it is no receipt, or the receipt of other bytes, or not of committed ones.
    """
    if response.status not in (200, 201):
        raise InvalidAnswerError("the answer to an upload is no receipt", status_code=response.status)
    receipt = model_from(response, UploadReceipt, "")  # its names are ours
    if receipt.upload_id != digest:
        raise InvalidAnswerError(
            f"the receipt is not for the bytes that were sent, whose digest is {digest}",
            status_code=response.status,
        )
    if receipt.status != "committed":
        raise InvalidAnswerError("the receipt does not say `committed`", status_code=response.status)
    return receipt


def model_from(response: Response, model: type[ModelT], api_key: str) -> ModelT:
    """The model in a successful answer.

    Args:
        response: the answer.
        model: its shape.
        api_key: what must not appear in an error.

    Raises:
        InvalidAnswerError: the body is not JSON, or not of this shape.
    """
    try:
        return model.model_validate_json(response.body)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        problem = strike_out(f"{where}: {first['msg']}", api_key)
    # Outside the handler: pydantic's error quotes the input, and that may be anything at all.
    raise InvalidAnswerError(
        f"the answer is not a {model.__name__}: {_shortened(problem, _MESSAGE_CHARS)}", status_code=response.status
    )


def _reason(response: Response) -> tuple[str, str]:
    """The code and the message of an error body, each empty when it has none."""
    text = response.body.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return "", text
    if not isinstance(body, dict):
        return "", text
    error = body.get("error")
    if isinstance(error, dict):
        return _string(error.get("code")), _string(error.get("message")) or _string(error.get("code"))
    return _string(body.get("code")), (
        _detail(body.get("detail")) or _string(error) or _string(body.get("message")) or text
    )


def _detail(detail: Any) -> str:
    """FastAPI's `detail`: a text, or a list of what is wrong where."""
    if isinstance(detail, list):
        return "; ".join(filter(None, map(_detail, detail)))
    if isinstance(detail, dict):
        place, message = detail.get("loc"), _string(detail.get("msg")) or _string(detail.get("message"))
        if isinstance(place, list) and message:
            return f"{'.'.join(map(str, place))}: {message}"
        return message or json.dumps(detail)
    return _string(detail)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shortened(text: str, limit: int) -> str:
    """One line of printable characters, not endlessly long: it goes to terminals and logs."""
    text = "".join(char if char.isprintable() else " " for char in text[: 20 * limit])
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
