from datetime import UTC, datetime

import pytest

from tests.naming import stable_id
from uploader.delivery.verdicts import Verdict, verdict_on
from uploader.errors import (
    APITimeoutError,
    ConfigurationError,
    InvalidAnswerError,
    MissingAPIKeyError,
    TransportError,
)
from uploader.exchange import Response
from uploader.responses import error_from
from uploader.testing import refusal

RECORD_CODES = (
    "trace_too_large",
    "too_many_traces_in_episode",
    "episode_id_too_long",
    "environment_id_too_long",
    "duplicate_trace_id",
    "duplicate_episode_id",
    "line_format_mismatch",
    "malformed_encoding",
    "invalid_trace",
    "created_at_out_of_window",
    "unknown_episode_reference",
    "upload_too_large",
    "too_many_traces_in_upload",
)
REQUEST_CODES = (
    "digest_mismatch",
    "invalid_metadata",
    "unsupported_schema_version",
    "invalid_idempotency_key",
    "invalid_cursor",
    "invalid_filter",
)


def judged(status: int, code: str = "") -> Verdict:
    answer = refusal(status, code)
    error = error_from(Response(status, {}, answer.content, datetime.now(UTC)), "pk-secret")
    assert error is not None
    return verdict_on(error)


@pytest.mark.parametrize("code", RECORD_CODES)
def test_a_refusal_for_a_record_or_a_size_divides(code: str) -> None:
    assert judged(400, code) is Verdict.DIVIDE


@pytest.mark.parametrize("code", REQUEST_CODES)
def test_a_refusal_of_the_request_sets_the_batch_aside(code: str) -> None:
    assert judged(400, code) is Verdict.REJECT


@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_without_a_code_may_be_about_a_record(status: int) -> None:
    assert judged(status) is Verdict.DIVIDE


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (401, Verdict.STOP),
        (402, Verdict.STOP),
        (403, Verdict.STOP),
        (404, Verdict.AGAIN),
        (405, Verdict.AGAIN),
        (408, Verdict.AGAIN),
        (409, Verdict.REJECT),
        (413, Verdict.DIVIDE),
        (429, Verdict.LATER),
        (500, Verdict.AGAIN),
        (502, Verdict.AGAIN),
        (503, Verdict.LATER),
        (504, Verdict.AGAIN),
    ],
)
def test_every_status_has_its_verdict(status: int, verdict: Verdict) -> None:
    assert judged(status, "some_code") is verdict


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (TransportError("reset"), Verdict.AGAIN),
        (APITimeoutError("late"), Verdict.AGAIN),
        (InvalidAnswerError("a login page"), Verdict.AGAIN),
        (MissingAPIKeyError(), Verdict.STOP),
        (ConfigurationError("team_id", "bad"), Verdict.STOP),
        (OSError("no route"), Verdict.AGAIN),
        (ZeroDivisionError(), Verdict.AGAIN),
    ],
    ids=stable_id,
)
def test_errors_that_are_no_answers_have_theirs(error: Exception, verdict: Verdict) -> None:
    assert verdict_on(error) is verdict
