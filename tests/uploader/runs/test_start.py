"""Opening a run: which settings it takes, who is asked, and what happens when nobody answers."""

import logging
import threading
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

import uploader
from tests.uploader.runs.support import FakeWorker
from uploader.errors import ConfigurationError, MissingAPIKeyError, RunError
from uploader.runs import start
from uploader.testing import ScriptedTransport, json_response, refusal

KEY = "pk-secret"
EVALUATION = json_response(201, {"evaluation_id": "e1", "name": "given", "viewer_url": "http://view/e1"})
TRAINING = json_response(201, {"run": {"id": "r1", "name": "given"}})


def init(**arguments: Any) -> uploader.Run:
    return uploader.init(**{"api_key": KEY, "team_id": "team", "kind": "eval", **arguments})


def test_a_run_that_no_platform_knows_is_local_and_says_so(
    worker: FakeWorker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transport = ScriptedTransport()
    with caplog.at_level(logging.INFO, "uploader"):
        run = init(name="n", transport=transport, spool=tmp_path)
    assert (run.name, run.url, run.is_local, run.status, run.mode) == ("n", None, True, "running", "online")
    assert run.id.startswith("local-")
    assert f"Run {run.id} is local" in caplog.text
    assert transport.requests == []
    assert repr(run) == f"Run(id='{run.id}', kind='eval', mode='online', status='running', local)"


@pytest.mark.parametrize("how", ["argument", "environment", "platform"])
def test_a_platform_opens_it(how: str, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    transport = ScriptedTransport([EVALUATION])
    arguments: dict[str, Any] = {"transport": transport, "spool": tmp_path}
    host = "platform.test"
    if how == "argument":
        arguments["base_url"] = "http://platform.test/"
        monkeypatch.setenv("PRIME_API_BASE_URL", "http://elsewhere.test")
    elif how == "environment":
        monkeypatch.setenv("PRIME_API_BASE_URL", "http://platform.test/api/v1")
    else:
        arguments["lifecycle"] = "platform"
        host = "api.primeintellect.ai"
    run = init(**arguments)
    assert (run.id, run.name, run.url, run.is_local) == ("e1", "given", "http://view/e1", False)
    (request,) = transport.requests
    assert (request.url.host, request.url.path, request.method) == (host, "/api/v1/evaluations/", "POST")
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_training_run_is_opened_with_all_that_describes_it(worker: FakeWorker, tmp_path: Path) -> None:
    transport = ScriptedTransport([TRAINING])
    run = init(
        kind="train",
        name="n",
        model="m",
        environments=["gsm8k"],
        config={"max_steps": 3},
        base_url="http://p",
        transport=transport,
        spool=tmp_path,
    )
    assert (run.id, run.kind) == ("r1", "train")
    assert orjson.loads(transport.requests[0].body) == {
        "base_model": "m",
        "max_steps": 3,
        "environments": [{"id": "gsm8k"}],
        "team_id": "team",
        "name": "n",
        "run_config": {"max_steps": 3},
    }


@pytest.mark.parametrize("arguments", [{"lifecycle": "local"}, {"mode": "offline"}, {"mode": "disabled"}])
def test_nobody_is_asked(arguments: Any, worker: FakeWorker, tmp_path: Path) -> None:
    transport = ScriptedTransport()
    run = init(base_url="http://p", transport=transport, spool=tmp_path, **arguments)
    assert run.is_local
    assert transport.requests == []


FAILURES = [
    refusal(500, "internal_error"),
    refusal(403, "forbidden"),
    refusal(404, "not_found"),
    httpx.ReadTimeout("t"),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_what_cannot_be_opened_is_local_and_says_why(
    failure: Any, worker: FakeWorker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transport = ScriptedTransport([failure])
    run = init(base_url="http://p", transport=transport, spool=tmp_path)
    assert run.is_local
    assert "The platform did not open the run, so it gets a local id" in caplog.text
    assert len(transport.requests) == 1
    assert KEY not in caplog.text


@pytest.mark.parametrize("failure", FAILURES)
def test_or_raises(failure: Any, worker: FakeWorker) -> None:
    with pytest.raises(RunError, match="did not open it"):
        init(base_url="http://p", transport=ScriptedTransport([failure]), on_error="raise")


def test_a_platform_that_answers_nothing_is_not_waited_for(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(start, "OPEN_TIMEOUT_S", 0.01)
    never = threading.Event()

    def silent(request: Any) -> Any:
        never.wait(60)
        return EVALUATION

    assert init(base_url="http://p", transport=ScriptedTransport([silent]), spool=tmp_path).is_local
    assert "not done within 0.01 s" in caplog.text
    never.set()


@pytest.mark.parametrize(("missing", "option"), [({"team_id": ""}, "team_id"), ({"model": None}, "model")])
def test_a_training_run_that_the_platform_would_not_open(
    missing: Any, option: str, worker: FakeWorker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    transport = ScriptedTransport()
    arguments = {"kind": "train", "model": "m", "base_url": "http://p", "transport": transport, "spool": tmp_path}
    assert init(**arguments | missing).is_local
    assert f"{option}: the platform opens a training run only for" in caplog.text
    with pytest.raises(ConfigurationError, match="only for") as caught:
        init(**arguments | missing, lifecycle="platform")
    assert caught.value.option == option
    assert transport.requests == []


def test_an_id_of_an_earlier_run_is_not_opened_again(worker: FakeWorker, tmp_path: Path) -> None:
    transport = ScriptedTransport()
    run = init(id="mine", base_url="http://p", transport=transport, spool=tmp_path)
    assert (run.id, run.is_local, transport.requests) == ("mine", False, [])
    assert init(id="mine", lifecycle="local", spool=tmp_path).id == "mine"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("kind", "test"),
        ("mode", "fast"),
        ("on_error", "ignore"),
        ("lifecycle", "both"),
        ("id", ""),
        ("id", 5),
        ("id", "x" * 257),
        ("finish_timeout", -1),
        ("finish_timeout", "long"),
        ("finish_timeout", True),
        ("spool", 5),
        ("spool", ""),
        ("environments", "gsm8k"),
        ("base_url", "ftp://h"),
        ("transport", object()),
        ("on_event", "hook"),
    ],
)
def test_arguments_that_cannot_be_used(option: str, value: Any, worker: FakeWorker) -> None:
    with pytest.raises(ConfigurationError) as caught:
        init(**{option: value})
    assert caught.value.option == option


def test_an_address_that_cannot_be_used(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIME_API_BASE_URL", "nowhere")
    with pytest.raises(ConfigurationError) as caught:
        init()
    assert caught.value.option == "PRIME_API_BASE_URL"


def test_a_key_is_needed_only_online(worker: FakeWorker, tmp_path: Path) -> None:
    with pytest.raises(MissingAPIKeyError):
        uploader.init(kind="eval")
    for mode in ("offline", "disabled"):
        assert uploader.init(kind="eval", mode=mode, spool=tmp_path if mode == "offline" else None).is_local


def test_the_first_record_has_no_threads_to_start(worker: FakeWorker, tmp_path: Path) -> None:
    init(spool=tmp_path)
    assert worker.begun


def test_an_offline_run_needs_a_disk(worker: FakeWorker) -> None:
    with pytest.raises(ConfigurationError, match="an offline run keeps everything there"):
        init(mode="offline", spool=None)
