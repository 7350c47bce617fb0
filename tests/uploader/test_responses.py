import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import uploader
from uploader.errors import APIError, InvalidAnswerError, RetryableAPIError
from uploader.exchange import Response
from uploader.models import RunSummary
from uploader.responses import error_from, model_from, receipt_from

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
DIGEST = "ab" * 32
KEY = "pk-very-secret"

# CONTRACT, "Answers", and what else may come.
TABLE = [
    (400, "invalid_trace", uploader.ValidationRejectedError),
    (401, "unauthenticated", uploader.UnauthorizedError),
    (402, None, uploader.PaymentRequiredError),
    (403, "forbidden", uploader.ForbiddenError),
    (403, "service_not_enabled", uploader.ForbiddenError),
    (404, "trace_not_found", uploader.NotFoundError),
    (408, None, uploader.RetryableAPIError),
    (409, "line_format_conflict", uploader.LineFormatConflictError),
    (409, "trace_not_indexed", uploader.TraceNotIndexedError),
    (409, None, uploader.LineFormatConflictError),
    (413, None, uploader.PayloadTooLargeError),
    (418, None, APIError),
    (422, None, uploader.ValidationRejectedError),
    (429, "rate_limited", uploader.RetryableAPIError),
    (500, None, uploader.RetryableAPIError),
    (502, None, uploader.RetryableAPIError),
    (503, "storage_unavailable", uploader.RetryableAPIError),
    (504, None, uploader.RetryableAPIError),
    (599, None, uploader.RetryableAPIError),
]


def response(status: int, body: Any = b"", **headers: str) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, content, NOW)


@pytest.mark.parametrize(("status", "code", "cls"), TABLE)
def test_every_status_has_its_own_type(status: int, code: str | None, cls: type[APIError]) -> None:
    body = {"error": {"code": code, "message": "because"}} if code else b""
    error = error_from(response(status, body), KEY)
    assert type(error) is cls
    assert (error.status_code, error.code) == (status, code)
    assert str(status) in str(error)


@pytest.mark.parametrize("status", [200, 201, 204])
def test_a_success_is_no_error(status: int) -> None:
    assert error_from(response(status), KEY) is None


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"error": {"code": "c", "message": "m"}}, "c", "m"),
        ({"error": {"code": "c"}}, "c", "c"),
        ({"error": {"code": 5, "message": ["m"]}}, None, "no reason given"),
        ({"error": "m"}, None, "m"),
        ({"detail": "m"}, None, "m"),
        ({"detail": [{"loc": ["body", "traces"], "msg": "Field required", "type": "missing"}]}, None,
         "body.traces: Field required"),
        ({"detail": {"message": "m"}}, None, "m"),
        ({"detail": {"x": 1}}, None, '{"x": 1}'),
        ({"message": "m", "code": "c"}, "c", "m"),
        ({}, None, "{}"),
        ([1], None, "[1]"),
        (b"plain\n  text", None, "plain text"),
        (b"\xff\x00\x1b[31m", None, "� [31m"),
        (b"[" * 100_000, None, "[" * 499 + "…"),
        (b"", None, "no reason given"),
    ],
)  # fmt: skip
def test_every_form_of_error_body_is_understood(body: Any, code: str | None, message: str) -> None:
    error = error_from(response(400, body), KEY)
    assert error is not None
    assert (error.code, error.message) == (code, message)


@given(st.binary() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["error", "detail", "message", "code", "loc",
                                                                     "msg"]), inner),
))  # fmt: skip
def test_no_body_makes_it_raise(body: Any) -> None:
    error = error_from(response(400, body), KEY)
    assert isinstance(error, APIError)
    assert error.message


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": f"bad_{KEY}", "message": f"key {KEY} refused"}},
        {"detail": KEY},
        KEY.encode(),
    ],
)
def test_a_repeated_key_is_struck_out(body: Any) -> None:
    error = error_from(response(401, body), KEY)
    assert KEY not in f"{error} {error!r} {vars(error)}"


@pytest.mark.parametrize("status", [429, 503, 500])
def test_retry_after(status: int) -> None:
    for header, seconds in [("7", 7), ("Mon, 04 May 2026 12:00:30 GMT", 30), ("999", 60), ("x", None)]:
        error = error_from(response(status, retry_after=header), KEY)
        assert isinstance(error, RetryableAPIError)
        assert error.retry_after == seconds


@pytest.mark.parametrize("status", [200, 201])
def test_a_receipt(status: int) -> None:
    receipt = receipt_from(response(status, {"upload_id": DIGEST, "status": "committed", "new": 1}), DIGEST)
    assert (receipt.upload_id, receipt.status) == (DIGEST, "committed")
    assert receipt.model_extra == {"new": 1}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (201, b""),
        (201, b"<html>"),
        (201, []),
        (201, {"upload_id": DIGEST}),
        (201, {"upload_id": DIGEST, "status": "pending"}),
        (201, {"upload_id": "cd" * 32, "status": "committed"}),
        (201, {"upload_id": DIGEST.upper(), "status": "committed"}),
        (202, {"upload_id": DIGEST, "status": "committed"}),
        (204, b""),
    ],
)
def test_what_is_no_receipt(status: int, body: Any) -> None:
    with pytest.raises(InvalidAnswerError) as caught:
        receipt_from(response(status, body), DIGEST)
    assert caught.value.status_code == status


def test_what_is_not_the_model() -> None:
    with pytest.raises(InvalidAnswerError, match=r"RunSummary.*first_trace_created_at") as caught:
        model_from(response(200, {"run_id": "secret-value"}), RunSummary, KEY)
    assert "secret-value" not in str(caught.value)
    assert caught.value.__context__ is None
