"""The platform's requests as flows: what is sent, what is repeated, and what an answer means."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from tests.uploader.test_flow import Driven
from uploader.config import Config
from uploader.errors import (
    APIError,
    ForbiddenError,
    InvalidAnswerError,
    RedirectError,
    RetryableAPIError,
    TransportError,
    ValidationRejectedError,
)
from uploader.exchange import Request, Response
from uploader.runs.endings import Ending, Status
from uploader.runs.platform import Opened, Platform
from uploader.runs.spec import RunSpec

CONFIG = Config("key", "https://h", "team")
PLATFORM = Platform(CONFIG, lambda: 0.5)
TRAINING = RunSpec(
    "train", "n", "qwen3-4b", ({"id": "gsm8k"},), ("a",), {"max_steps": 9, "batch_size": 4, "seq_len": "long"}, "team"
)
EVALUATION = RunSpec("eval", "n", "qwen3-4b", ({"id": "gsm8k"},), ("a", "b"), {"t": 1}, "team")


def answer(status: int, body: Any = None, **headers: str) -> Response:
    return Response(status, headers, b"" if body is None else orjson.dumps(body), datetime(2026, 1, 1, tzinfo=UTC))


def sent(driven: Driven) -> list[tuple[str, str, Any]]:
    return [(each.method, each.url.removeprefix("https://h/api/v1"), body_of(each)) for each in driven.sent]


def body_of(request: Request) -> Any:
    assert request.body is not None
    body = b"".join(request.body.pieces())
    assert request.headers == {
        "Authorization": "Bearer key",
        "X-Prime-Team-ID": "team",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    return orjson.loads(body)


def test_opening_a_training_run() -> None:
    driven = Driven(PLATFORM.open(TRAINING), [answer(201, {"run": {"id": "r1", "name": "given"}})])
    body = {
        "base_model": "qwen3-4b",
        "max_steps": 9,
        "batch_size": 4,
        "environments": [{"id": "gsm8k"}],
        "team_id": "team",
        "name": "n",
        "run_config": {"max_steps": 9, "batch_size": 4, "seq_len": "long"},
    }
    assert sent(driven) == [("POST", "/rft/external-runs", body)]
    assert driven.result == Opened("r1", "given")


def test_opening_a_bare_training_run() -> None:
    spec = RunSpec("train", model="m", team="team")
    driven = Driven(PLATFORM.open(spec), [answer(201, {"run": {"id": "r1"}})])
    ((_, _, body),) = sent(driven)
    assert body == {"base_model": "m", "max_steps": 0, "environments": [], "team_id": "team"}
    assert driven.result == Opened("r1")


def test_opening_an_evaluation() -> None:
    said = {"evaluation_id": "e1", "name": "n", "viewer_url": "https://view/e1"}
    driven = Driven(PLATFORM.open(EVALUATION), [answer(201, said)])
    body = {
        "name": "n",
        "environments": [{"id": "gsm8k"}],
        "tags": ["a", "b"],
        "model_name": "qwen3-4b",
        "metadata": {"t": 1},
        "team_id": "team",
    }
    assert sent(driven) == [("POST", "/evaluations/", body)]
    assert driven.result == Opened("e1", "n", "https://view/e1")


@pytest.mark.parametrize(("environments", "stem"), [((), "eval-"), (({"id": "gsm8k"},), "gsm8k-")])
def test_an_evaluation_without_a_name_gets_one(environments: Any, stem: str) -> None:
    driven = Driven(PLATFORM.open(RunSpec("eval", environments=environments)), [answer(201, {"evaluation_id": "e1"})])
    ((_, _, body),) = sent(driven)
    assert body["name"].startswith(stem)
    assert set(body) == {"name", "environments", "tags"}


@pytest.mark.parametrize("failure", [answer(s) for s in (408, 500, 502, 504)] + [TransportError("reset")])
def test_opening_is_not_repeated_when_a_run_may_have_been_opened(failure: Any) -> None:
    driven = Driven(PLATFORM.open(EVALUATION), [failure])
    assert isinstance(driven.error, RetryableAPIError | TransportError)
    assert (len(driven.sent), driven.slept) == (1, [])


def test_opening_is_repeated_after_a_refusal_before_any_work() -> None:
    answers = [answer(429, **{"retry-after": "7"}), answer(503), answer(201, {"evaluation_id": "e1"})]
    driven = Driven(PLATFORM.open(EVALUATION), answers)
    assert [sleep.delay_s for sleep in driven.slept] == [7, 2]
    assert driven.result.id == "e1"


def test_opening_is_given_up_at_last() -> None:
    driven = Driven(PLATFORM.open(EVALUATION), [answer(429)] * 5)
    assert isinstance(driven.error, RetryableAPIError)
    assert len(driven.slept) == 4


@pytest.mark.parametrize(
    ("spec", "body"),
    [(TRAINING, {}), (TRAINING, {"run": {"id": ""}}), (EVALUATION, {"evaluation_id": 5}), (EVALUATION, [])],
)
def test_answers_that_open_nothing(spec: RunSpec, body: Any) -> None:
    assert isinstance(Driven(PLATFORM.open(spec), [answer(201, body)]).error, InvalidAnswerError)


@pytest.mark.parametrize("method", ["open", "close"])
def test_a_request_is_not_sent_elsewhere(method: str) -> None:
    flow = PLATFORM.open(EVALUATION) if method == "open" else PLATFORM.close("eval", "e", Ending(Status.FAILED))
    assert isinstance(Driven(flow, [answer(307, location="https://other/x")]).error, RedirectError)


def test_metrics_of_a_training_run() -> None:
    failures = [answer(500), TransportError("reset"), answer(429, **{"retry-after": "3"})]
    driven = Driven(PLATFORM.add_metrics("train", "r1", {"step": 1, "loss": 0.5}), [*failures, answer(200, {})])
    assert sent(driven) == [("POST", "/rft/metrics", {"run_id": "r1", "metrics": {"step": 1, "loss": 0.5}})] * 4
    assert [sleep.delay_s for sleep in driven.slept] == [1, 2, 3]


def test_metrics_of_an_evaluation() -> None:
    driven = Driven(PLATFORM.add_metrics("eval", "e/1", {"acc": 0.5}), [answer(200, {})])
    assert sent(driven) == [("PUT", "/evaluations/e%2F1", {"metrics": {"acc": 0.5}})]


def test_metrics_are_tried_for_as_long_as_it_takes() -> None:
    driven = Driven(PLATFORM.add_metrics("train", "r1", {}), [answer(503)] * 200 + [answer(200, {})])
    assert driven.error is None
    assert len(driven.slept) == 200


CLOSINGS: list[tuple[str, Ending, list[tuple[str, str, Any]]]] = [
    ("train", Ending(Status.COMPLETED, {"a": 1}), [("POST", "/rft/finalize", {"run_id": "r", "exit_code": 0})]),
    (
        "train",
        Ending(Status.FAILED, error="OOM"),
        [("PUT", "/rft/external-runs/r/status", {"status": "failed", "error_message": "OOM"})],
    ),
    (
        "train",
        Ending(Status.CANCELLED),
        [("PUT", "/rft/external-runs/r/status", {"status": "failed", "error_message": "cancelled"})],
    ),
    (
        "train",
        Ending(Status.CANCELLED, error="by hand"),
        [("PUT", "/rft/external-runs/r/status", {"status": "failed", "error_message": "cancelled: by hand"})],
    ),
    ("eval", Ending(Status.COMPLETED, {"a": 1}), [("POST", "/evaluations/r/finalize", {"metrics": {"a": 1}})]),
    (
        "eval",
        Ending(Status.FAILED, {"a": 1}, "OOM"),
        [
            ("PUT", "/evaluations/r", {"metrics": {"a": 1}}),
            ("PUT", "/evaluations/r", {"status": "FAILED", "error_message": "OOM"}),
        ],
    ),
    ("eval", Ending(Status.CANCELLED), [("PUT", "/evaluations/r", {"status": "CANCELLED"})]),
]


@pytest.mark.parametrize(("kind", "ending", "requests"), CLOSINGS)
def test_closing(kind: str, ending: Ending, requests: Any) -> None:
    driven = Driven(PLATFORM.close(kind, "r", ending), [answer(200, {}) for _ in requests])
    assert sent(driven) == requests
    assert driven.error is None


@pytest.mark.parametrize(("kind", "ending", "requests"), CLOSINGS)
def test_closing_may_be_repeated(kind: str, ending: Ending, requests: Any) -> None:
    driven = Driven(PLATFORM.close(kind, "r", ending), [TransportError("cut"), *(answer(200, {}) for _ in requests)])
    assert sent(driven) == [requests[0], *requests]


@pytest.mark.parametrize(("kind", "ending"), [closing[:2] for closing in CLOSINGS])
def test_a_run_that_is_closed_already_is_closed(kind: str, ending: Ending) -> None:
    assert Driven(PLATFORM.close(kind, "r", Ending(ending.status)), [answer(409)]).error is None


def test_what_cannot_be_closed_is_said() -> None:
    for status, error in ((400, ValidationRejectedError), (403, ForbiddenError), (418, APIError)):
        assert isinstance(Driven(PLATFORM.close("train", "r", Ending(Status.COMPLETED)), [answer(status)]).error, error)


def test_a_long_reason_is_cut() -> None:
    driven = Driven(PLATFORM.close("train", "r", Ending(Status.FAILED, error="x" * 10_000)), [answer(200)])
    assert sent(driven)[0][2]["error_message"] == "x" * 4096
