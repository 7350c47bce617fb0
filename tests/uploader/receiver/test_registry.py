"""The platform's requests about runs, each over a real connection: opened, reported on, closed once."""

from typing import Any

import httpx
import pytest

from tests.uploader.receiver.conftest import Serve
from tests.uploader.receiver.support import code_of, message_of
from uploader.receiver import ReceiverProcess

TRAINING: dict[str, Any] = {
    "base_model": "qwen3-4b",
    "max_steps": 100,
    "environments": [{"id": "gsm8k"}],
    "team_id": "team",
    "name": "first",
    "run_config": {"lr": 1e-6},
}
EVALUATION: dict[str, Any] = {
    "name": "second",
    "environments": [{"id": "gsm8k"}],
    "tags": ["nightly"],
    "model_name": "qwen3-4b",
    "metadata": {"temperature": 0.7},
}


def opened_training(client: httpx.Client, **changes: Any) -> str:
    answer = client.post("/api/v1/rft/external-runs", json=TRAINING | changes)
    assert answer.status_code == 201
    run = answer.json()["run"]
    assert set(run) == {"id", "name"}
    return str(run["id"])


def opened_evaluation(client: httpx.Client) -> str:
    answer = client.post("/api/v1/evaluations/", json=EVALUATION)
    assert answer.status_code == 201
    assert set(answer.json()) == {"evaluation_id", "name", "viewer_url"}
    return str(answer.json()["evaluation_id"])


def read_training(client: httpx.Client, run_id: str) -> Any:
    return client.get(f"/api/v1/rft/external-runs/{run_id}").raise_for_status().json()


def read_evaluation(client: httpx.Client, run_id: str) -> Any:
    return client.get(f"/api/v1/evaluations/{run_id}").raise_for_status().json()


def add_metrics(client: httpx.Client, run_id: str, **metrics: Any) -> httpx.Response:
    return client.post("/api/v1/rft/metrics", json={"run_id": run_id, "metrics": metrics})


def test_a_training_run_from_beginning_to_end(client: httpx.Client) -> None:
    run_id = opened_training(client)
    run = read_training(client, run_id)
    assert (run["status"], run["closed_at"], run["metrics"]) == ("running", None, [])
    assert {name: run[name] for name in TRAINING} == TRAINING
    assert add_metrics(client, run_id, step=2, loss=0.5).status_code == 200
    assert add_metrics(client, run_id, step=1, loss=0.7).status_code == 200
    done = client.post("/api/v1/rft/finalize", json={"run_id": run_id, "exit_code": 0})
    assert (done.status_code, done.json()) == (200, {"run_id": run_id, "status": "completed"})
    run = read_training(client, run_id)
    assert (run["status"], run["error_message"]) == ("completed", None)
    assert run["closed_at"] >= run["created_at"]
    assert run["metrics"] == [{"step": 1, "loss": 0.7}, {"step": 2, "loss": 0.5}]


def test_the_same_metrics_again_are_one_row(client: httpx.Client) -> None:
    run_id = opened_training(client)
    for _ in range(2):
        add_metrics(client, run_id, step=1, loss=0.5)
        add_metrics(client, run_id, loss=0.1, _timestamp=1.5)
    add_metrics(client, run_id, step=1, loss=0.25)
    assert read_training(client, run_id)["metrics"] == [{"step": 1, "loss": 0.25}, {"loss": 0.1, "_timestamp": 1.5}]


@pytest.mark.parametrize("step", [True, 2**63, 1.5, "1", None])
def test_what_is_no_step_is_a_value_like_others(client: httpx.Client, step: Any) -> None:
    run_id = opened_training(client)
    assert add_metrics(client, run_id, step=step, a=1).status_code == 200
    assert add_metrics(client, run_id, step=step, a=2).status_code == 200
    assert len(read_training(client, run_id)["metrics"]) == 2


def test_a_run_without_a_name_gets_one(client: httpx.Client) -> None:
    run_id = opened_training(client, name=None)
    assert read_training(client, run_id)["name"] == "qwen3-4b-training"


def test_a_closed_training_run_stays_as_it_ended(client: httpx.Client) -> None:
    run_id = opened_training(client)
    status = f"/api/v1/rft/external-runs/{run_id}/status"
    assert client.put(status, json={"status": "failed", "error_message": "OOM"}).status_code == 200
    assert code_of(client.put(status, json={"status": "completed"})) == (409, "run_closed")
    assert code_of(client.put(status, json={"status": "failed"})) == (409, "run_closed")
    assert code_of(client.post("/api/v1/rft/finalize", json={"run_id": run_id, "exit_code": 0})) == (409, "run_closed")
    assert code_of(add_metrics(client, run_id, step=1)) == (409, "run_closed")
    run = read_training(client, run_id)
    assert (run["status"], run["error_message"], run["metrics"]) == ("failed", "OOM", [])


@pytest.mark.parametrize(("exit_code", "status", "reason"), [(0, "completed", None), (3, "failed", "exit code 3")])
def test_finalizing_may_be_repeated(client: httpx.Client, exit_code: int, status: str, reason: str | None) -> None:
    run_id = opened_training(client)
    for _ in range(2):
        answer = client.post("/api/v1/rft/finalize", json={"run_id": run_id, "exit_code": exit_code})
        assert (answer.status_code, answer.json()["status"]) == (200, status)
    run = read_training(client, run_id)
    assert (run["status"], run["error_message"]) == (status, reason)


def test_an_evaluation_from_beginning_to_end(client: httpx.Client, receiver: ReceiverProcess) -> None:
    answer = client.post("/api/v1/evaluations/", json=EVALUATION).json()
    run_id = answer["evaluation_id"]
    assert answer["viewer_url"] == f"{receiver.url}/api/v1/evaluations/{run_id}"
    place = f"/api/v1/evaluations/{run_id}"
    assert client.put(place, json={"metrics": {"a": 1, "b": 1}}).status_code == 200
    assert client.put(place, json={"metadata": {"temperature": 1}}).status_code == 200
    for _ in range(2):  # it may be repeated
        assert client.post(f"{place}/finalize", json={"metrics": {"b": 2}}).status_code == 200
    assert client.put(place, json={"metrics": {"late": 1}}).status_code == 200
    run = client.get(answer["viewer_url"]).json()
    assert (run["status"], run["metrics"]) == ("completed", {"a": 1, "b": 2, "late": 1})
    assert {name: run[name] for name in EVALUATION} == EVALUATION | {"metadata": {"temperature": 1}}


@pytest.mark.parametrize("status", ["FAILED", "CANCELLED"])
def test_a_closed_evaluation_stays_as_it_ended(client: httpx.Client, status: str) -> None:
    run_id = opened_evaluation(client)
    place = f"/api/v1/evaluations/{run_id}"
    assert client.put(place, json={"status": status, "error_message": "no", "metrics": {"a": 1}}).status_code == 200
    assert code_of(client.put(place, json={"status": "FAILED", "metrics": {"a": 2}})) == (409, "run_closed")
    assert code_of(client.post(f"{place}/finalize", json={"metrics": {"a": 3}})) == (409, "run_closed")
    run = read_evaluation(client, run_id)
    assert (run["status"], run["error_message"], run["metrics"]) == (status.lower(), "no", {"a": 1})


def test_finalizing_needs_no_body(client: httpx.Client) -> None:
    run_id = opened_evaluation(client)
    assert client.post(f"/api/v1/evaluations/{run_id}/finalize").status_code == 200


def test_opening_again_opens_another(client: httpx.Client) -> None:
    assert opened_training(client) != opened_training(client)
    assert opened_evaluation(client) != opened_evaluation(client)


def test_runs_of_the_other_kind_and_unknown_ones(client: httpx.Client) -> None:
    training, evaluation = opened_training(client), opened_evaluation(client)
    for answer in (
        client.get(f"/api/v1/evaluations/{training}"),
        client.put("/api/v1/evaluations/nobody", json={}),
        client.post("/api/v1/evaluations/nobody/finalize", json={}),
        client.get(f"/api/v1/rft/external-runs/{evaluation}"),
        client.put(f"/api/v1/rft/external-runs/{evaluation}/status", json={"status": "failed"}),
        client.post("/api/v1/rft/finalize", json={"run_id": "nobody"}),
        add_metrics(client, evaluation, step=1),
    ):
        assert code_of(answer) == (404, "run_not_found")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/rft/external-runs", b"{"),
        ("POST", "/rft/external-runs", b"{}"),
        ("POST", "/rft/external-runs", b'{"base_model":"m","max_steps":"many","environments":[],"team_id":"t"}'),
        ("POST", "/rft/metrics", b'{"run_id":"r","metrics":[]}'),
        ("POST", "/rft/finalize", b"\xff"),
        ("PUT", "/rft/external-runs/r/status", b'{"status":"running"}'),
        ("POST", "/evaluations/", b'{"name":1}'),
        ("PUT", "/evaluations/r", b'{"status":"COMPLETED"}'),
        ("POST", "/evaluations/r/finalize", b'{"metrics":1}'),
        ("PUT", "/evaluations/r", b"[" * 100_000),
    ],
)
def test_bodies_that_are_not_as_agreed(client: httpx.Client, method: str, path: str, body: bytes) -> None:
    answer = client.request(method, f"/api/v1{path}", content=body)
    assert code_of(answer) == (400, "invalid_run")
    assert "The body is not a" in message_of(answer)


def test_a_body_without_an_end_is_refused(client: httpx.Client) -> None:
    answer = client.post("/api/v1/rft/metrics", content=b" " * (8 * 1024 * 1024 + 1))
    assert code_of(answer) == (400, "upload_too_large")


def test_methods_that_are_not_served(client: httpx.Client) -> None:
    for method, path in (("GET", "/rft/metrics"), ("DELETE", "/evaluations/a"), ("PUT", "/rft/external-runs")):
        assert code_of(client.request(method, f"/api/v1{path}")) == (405, "method_not_allowed")


def test_the_key_is_asked_for(serve: Serve) -> None:
    client = serve(api_key="secret")
    assert code_of(client.post("/api/v1/evaluations/", json=EVALUATION)) == (401, "unauthenticated")
    client.headers["Authorization"] = "Bearer secret"
    opened_evaluation(client)


def test_what_was_answered_survives_a_power_cut(tmp_path: Any) -> None:
    with ReceiverProcess(tmp_path) as process, httpx.Client(base_url=process.url) as client:
        training, evaluation = opened_training(client), opened_evaluation(client)
        add_metrics(client, training, step=1, loss=0.5)
        client.post(f"/api/v1/evaluations/{evaluation}/finalize", json={"metrics": {"a": 1}})
        process.kill()
    with ReceiverProcess(tmp_path) as process, httpx.Client(base_url=process.url) as client:
        assert read_training(client, training)["metrics"] == [{"step": 1, "loss": 0.5}]
        assert read_evaluation(client, evaluation)["status"] == "completed"
        assert add_metrics(client, training, step=2).status_code == 200
