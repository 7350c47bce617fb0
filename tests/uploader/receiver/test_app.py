"""Reading back over HTTP: summaries, raw bytes, pages, filters, odd ids, and errors as JSON."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.naming import stable_id
from tests.uploader.receiver.conftest import Serve
from tests.uploader.receiver.support import Json, code_of, dumps, episode, jsonl, message_of, post, trace
from uploader.receiver import ReceiverProcess

HOSTILE_IDS = [
    "a/b",
    "..",
    ".",
    "../../etc/passwd",
    "/",
    "//",
    "a b",
    "%2F",
    "%",
    "?",
    "#",
    "a?raw=true",
    "ünïcödé",
    "🙂",
    "'; DROP TABLE traces; --",
    '"',
    "\\",
    "\0",
    "\n",
    "nodes",
    "x/nodes",
    "*",
    "‮",
    " ",
    "a\x7f",
    "i" * 256,
    "%_",
]


def path_of(kind: str, record_id: str, tail: str = "") -> str:
    return f"/api/v1/{kind}/{quote(record_id, safe='').replace('.', '%2E')}{tail}"


@pytest.mark.parametrize("record_id", HOSTILE_IDS)
def test_any_id_is_stored_and_read(client: httpx.Client, record_id: str) -> None:
    member = trace(
        record_id, nodes=[{"message": {"role": "user", "content": "hi"}}], calls=[{"model": "m"}], run={"id": record_id}
    )
    record = episode(record_id, member)
    assert post(client, jsonl(record), line_format="episode").status_code == 201
    assert client.get(path_of("traces", record_id)).json()["trace_id"] == record_id
    assert client.get(path_of("traces", record_id, "?raw=true")).content == dumps(member)
    assert client.get(path_of("traces", record_id, "/nodes")).json()["items"][0]["message"]["content"] == "hi"
    assert client.get(path_of("traces", record_id, "/calls")).json()["items"][0]["model"] == "m"
    assert client.get(path_of("episodes", record_id)).json()["episode_id"] == record_id
    assert client.get(path_of("episodes", record_id, "?raw=true")).content == dumps(record)
    assert len(client.get(path_of("episodes", record_id, "/traces")).json()["items"]) == 1
    assert client.get(path_of("runs", record_id)).json()["run_id"] == record_id
    assert client.get(path_of("runs", record_id, "/steps")).json()["step_count"] == 0
    listed = client.get("/api/v1/traces", params={"run_id": record_id}).json()["items"]
    assert [item["trace_id"] for item in listed] == [record_id]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/v1/traces/none", "trace_not_found"),
        ("/api/v1/traces/none?raw=true", "trace_not_found"),
        ("/api/v1/traces/none/nodes", "trace_not_found"),
        ("/api/v1/traces/none/calls", "trace_not_found"),
        ("/api/v1/episodes/none", "episode_not_found"),
        ("/api/v1/episodes/none?raw=true", "episode_not_found"),
        ("/api/v1/episodes/none/traces", "episode_not_found"),
        ("/api/v1/runs/none", "run_not_found"),
        ("/", "not_found"),
        ("/api/v1", "not_found"),
        ("/api/v1/traces/", "not_found"),
        ("/api/v1/traces/a/b/c", "not_found"),
        ("/api/v1/traces/%FF", "not_found"),
        ("/api/v2/traces", "not_found"),
    ],
)
def test_not_found(client: httpx.Client, path: str, code: str) -> None:
    assert code_of(client.get(path)) == (404, code)


def test_wrong_methods(client: httpx.Client) -> None:
    for method, path in (("PUT", "/api/v1/traces"), ("POST", "/api/v1/runs"), ("DELETE", "/api/v1/traces/a")):
        assert code_of(client.request(method, path)) == (405, "method_not_allowed")
    assert client.head("/nothing").status_code == 404


def test_steps_of_an_unknown_run_are_none(client: httpx.Client) -> None:
    answer: Json = {"step_min": None, "step_max": None, "step_count": 0, "items": []}
    assert client.get("/api/v1/runs/none/steps").json() == answer


def test_the_token_is_asked_for(serve: Serve) -> None:
    client = serve("sécret")
    assert client.get("/healthz").status_code == 200
    for value in ("", "Bearer", "Bearer wrong", "Basic sécret", "sécret"):
        headers = {b"Authorization": value.encode()}
        assert code_of(client.get("/api/v1/traces", headers=headers)) == (401, "unauthenticated")
        assert code_of(client.get("/api/v1/runs/x", headers=headers)) == (401, "unauthenticated")
        assert code_of(client.post("/api/v1/traces", headers=headers)) == (401, "unauthenticated")
    assert code_of(client.get("/api/v1/traces")) == (401, "unauthenticated")
    headers = {b"Authorization": "Bearer sécret".encode()}
    assert client.get("/api/v1/traces", headers=headers).json() == {"items": [], "next_cursor": None}


def test_a_refused_key_does_not_cut_a_long_body_off(serve: Serve) -> None:
    client = serve("right")
    response = post(client, jsonl(trace("x", text="x" * 5_000_000)), compress=False)
    assert code_of(response) == (401, "unauthenticated")


def test_an_id_that_is_no_text_is_named(client: httpx.Client) -> None:
    for path in ("/traces/%FF", "/episodes/a%C3?raw=true", "/runs/%ED%A0%80/steps"):
        assert "not UTF-8" in message_of(client.get(f"/api/v1{path}"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A receiver with 25 traces in 5 episodes of 2 runs."""
    with ReceiverProcess(tmp_path_factory.mktemp("library")) as process, httpx.Client(base_url=process.url) as client:
        for number in range(5):
            run = {"type": "train", "id": f"run-{number % 2}", "work": {"type": "train", "step": number // 2}}
            members = [
                trace(
                    f"t{number}{n}",
                    run=run,
                    timing={
                        "start": 1_700_000_000.25 + 10 * number + n,
                        "agent": {"start": 1.0, "end": 1_700_000_100.25},
                    },
                    agent={"name": f"agent-{n % 2}", "config": {"provider": "prov"}},
                    calls=[{"node": 0, "model": f"model-{n}", "finish_reason": "length" if n == 4 else "stop"}],
                    rewards={"a": {"score": float(n), "weight": 0.5}, "b": None} if n else {},
                    info={"outcome": "won" if n == 4 else "lost"},
                    task={"type": "t", "data": {"idx": n}, "key": None},
                    errors=[{"type": "E", "message": "m"}] if n == 3 else [],
                    num_total_tokens=n,
                )
                for n in range(5)
            ]
            record = {"id": f"e{number}", "env": {"id": f"env-{number % 2}"}, "run": run, "traces": members}
            record["errors"] = [{"type": "Hook", "message": "failed"}] if number == 4 else []
            response = post(client, jsonl(record), line_format="episode", context={"batch": str(number)})
            assert response.status_code == 201
        yield client


def test_trace_summary(library: httpx.Client) -> None:
    summary = library.get("/api/v1/traces/t13").json()
    assert summary.pop("upload_id") == library.get("/api/v1/episodes/e1").json()["upload_id"]
    assert summary.pop("ingested_at").endswith("Z")
    assert summary.pop("size_bytes") == len(library.get("/api/v1/traces/t13?raw=true").content)
    assert summary == {
        "trace_id": "t13",
        "episode_id": "e1",
        "created_at": "2023-11-14T22:13:33.250000Z",
        "run_id": "run-1",
        "environment_id": "env-1",
        "model": {"provider": "prov", "id": "model-3"},
        "task_id": "3",
        "agent_name": "agent-1",
        "score": {"reward": 1.5, "outcome": "lost"},
        "execution": {"has_error": True, "is_truncated": False},
        "duration_ms": 87_000,
        "total_tokens": 3,
        "context": {"batch": "1"},
    }


@pytest.mark.parametrize("timing", [None, {}, {"start": 0.0}, {"start": -1}], ids=stable_id)
def test_what_has_no_time_was_created_when_it_came(client: httpx.Client, timing: Any) -> None:
    name = f"timeless {timing}"
    record = episode(name, trace(f"{name} 1", timing=timing), trace(f"{name} 2", timing=timing))
    assert post(client, jsonl(record), line_format="episode").status_code == 201
    assert post(client, jsonl(trace(f"{name} 3", timing=timing))).status_code == 201
    for kind, count in (("episodes", 1), ("traces", 3)):
        items = client.get(f"/api/v1/{kind}", params={"limit": 100}).json()["items"]
        found = [item for item in items if item[f"{kind[:-1]}_id"].startswith(name)]
        assert len(found) == count
        assert all(item["created_at"] == item["ingested_at"] > "1971" for item in found)


def test_episodes_were_created_with_the_first_member_that_has_a_time(client: httpx.Client) -> None:
    members = [trace(f"part {start}", timing={"start": start}) for start in (0, 20, 10)]
    assert post(client, jsonl(episode("partly", *members)), line_format="episode").status_code == 201
    assert client.get("/api/v1/episodes/partly").json()["created_at"] == "1970-01-01T00:00:10.000000Z"


def test_episode_summary(library: httpx.Client) -> None:
    summary = library.get("/api/v1/episodes/e4").json()
    del summary["upload_id"], summary["ingested_at"]
    assert summary == {
        "episode_id": "e4",
        "schema_version": 1,
        "created_at": "2023-11-14T22:14:00.250000Z",
        "run_id": "run-0",
        "environment_id": "env-0",
        "outcome": None,
        "has_error": True,
        "error": {"type": "Hook", "message": "failed"},
        "traces": {
            "trace_count": 5,
            "total_tokens": 10,
            "total_duration_ms": 290_000,
            "any_trace_error": True,
            "agent_names": ["agent-0", "agent-1"],
        },
    }


def test_run_summary_and_steps(library: httpx.Client) -> None:
    summary = library.get("/api/v1/runs/run-0").json()
    assert summary.pop("last_trace_ingested_at").endswith("Z")
    assert summary == {
        "run_id": "run-0",
        "first_trace_created_at": "2023-11-14T22:13:20.250000Z",
        "last_trace_created_at": "2023-11-14T22:14:04.250000Z",
        "trace_count": 15,
        "episode_count": 3,
        "avg_reward": 1.25,
        "step_min": 0,
        "step_max": 2,
        "step_count": 3,
        "has_error": True,
        "first_user_id": None,
        "environment_ids": ["env-0"],
        "model_ids": [f"model-{n}" for n in range(5)],
        "context": {"batch": "4"},
    }
    steps = library.get("/api/v1/runs/run-0/steps").json()
    assert steps == {
        "step_min": 0,
        "step_max": 2,
        "step_count": 3,
        "items": [{"step": n, "trace_count": 5, "episode_count": 1, "avg_reward": 1.25} for n in range(3)],
    }


def pages(client: httpx.Client, path: str, params: dict[str, Any]) -> list[list[Any]]:
    found, cursor = [], None
    while True:
        answer = client.get(path, params={**params, **({"cursor": cursor} if cursor else {})}).json()
        found.append(answer["items"])
        cursor = answer["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 4, 5, 24, 25, 26, 100])
def test_pages_hold_everything_once_newest_first(library: httpx.Client, limit: int) -> None:
    found = pages(library, "/api/v1/traces", {"limit": limit})
    assert all(len(part) == limit for part in found[:-1])
    assert 0 < len(found[-1]) <= limit
    ids = [item["trace_id"] for part in found for item in part]
    assert ids == [f"t{number}{n}" for number in (4, 3, 2, 1, 0) for n in (4, 3, 2, 1, 0)]
    assert [item["episode_id"] for part in pages(library, "/api/v1/episodes", {"limit": limit}) for item in part] == [
        "e4",
        "e3",
        "e2",
        "e1",
        "e0",
    ]
    assert [item["run_id"] for part in pages(library, "/api/v1/runs", {"limit": limit}) for item in part] == [
        "run-0",
        "run-1",
    ]
    members = [
        item["trace_id"] for part in pages(library, "/api/v1/episodes/e2/traces", {"limit": limit}) for item in part
    ]
    assert members == ["t24", "t23", "t22", "t21", "t20"]


@pytest.mark.parametrize(
    ("params", "count"),
    [
        ({}, 25),
        ({"run_id": "run-1"}, 10),
        ({"run_id": "none"}, 0),
        ({"run_id": ["run-0", "run-1"]}, 25),
        ({"environment_id": "env-0"}, 15),
        ({"model_id": "model-3"}, 5),
        ({"model_provider": "prov"}, 25),
        ({"task_id": "2"}, 5),
        ({"reward_min": "1.5"}, 10),
        ({"reward_max": "0.5"}, 5),
        ({"reward_min": "0.5", "reward_max": "1e0"}, 10),
        ({"outcome": "won"}, 5),
        ({"has_error": "true"}, 5),
        ({"has_error": "false"}, 20),
        ({"is_truncated": "true"}, 5),
        ({"run_step": "1"}, 10),
        ({"created_after": "2023-11-14T22:13:40.25Z"}, 15),
        ({"created_after": "2023-11-14T23:13:40.25+01:00"}, 15),
        ({"created_before": "2023-11-14T22:13:40.250"}, 10),
        ({"created_after": "2023-11-14", "created_before": "2023-11-15"}, 25),
        ({"context.batch": "3"}, 5),
        ({"context.batch": "x"}, 0),
        ({"context.": "3"}, 0),
        ({"context.batch": "3", "has_error": "true"}, 1),
    ],
)
def test_trace_filters(library: httpx.Client, params: dict[str, Any], count: int) -> None:
    assert len(library.get("/api/v1/traces", params={**params, "limit": 100}).json()["items"]) == count


@pytest.mark.parametrize(
    ("params", "ids"),
    [
        ({"run_id": "run-1"}, ["e3", "e1"]),
        ({"environment_id": "env-0"}, ["e4", "e2", "e0"]),
        ({"has_error": "true"}, ["e4"]),
        ({"run_step": "1"}, ["e3", "e2"]),
        ({"step_min": "1", "step_max": "1"}, ["e3", "e2"]),
        ({"context.batch": "2"}, ["e2"]),
        ({"created_before": "2023-11-14T22:13:30.25Z"}, ["e0"]),
    ],
)
def test_episode_filters(library: httpx.Client, params: dict[str, Any], ids: list[str]) -> None:
    assert [item["episode_id"] for item in library.get("/api/v1/episodes", params=params).json()["items"]] == ids


def test_upload_id_selects_what_one_batch_stored(library: httpx.Client) -> None:
    uploads = [library.get(f"/api/v1/episodes/e{number}").json()["upload_id"] for number in (1, 3)]
    assert len(library.get("/api/v1/traces", params={"upload_id": uploads[0]}).json()["items"]) == 5
    assert len(library.get("/api/v1/traces", params={"upload_id": uploads}).json()["items"]) == 10


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=-1",
        "limit=1&limit=2",
        "nonsense=1",
        "reward_min=x",
        "reward_min=nan",
        "reward_max=inf",
        "has_error=maybe",
        "created_after=yesterday",
        "created_before=",
        "reward_min=1&reward_min=2",
        "run_step=1.5",
        "run_step=99999999999999999999",
        "context.a=1&context.a=2",
        "&".join(f"context.{number}=1" for number in range(2000)),
        "&".join(["run_id=1"] * 101),
    ],
)
def test_bad_filters(library: httpx.Client, query: str) -> None:
    assert code_of(library.get(f"/api/v1/traces?{query}")) == (400, "invalid_filter")


def test_cursors_belong_to_their_list_and_filters(library: httpx.Client) -> None:
    cursor = library.get("/api/v1/traces", params={"limit": 2, "run_id": "run-0"}).json()["next_cursor"]
    again = {"limit": 50, "run_id": "run-0", "cursor": cursor}
    assert len(library.get("/api/v1/traces", params=again).json()["items"]) == 13
    for path, params in (
        ("/api/v1/traces", {"run_id": "run-1", "cursor": cursor}),
        ("/api/v1/traces", {"cursor": cursor}),
        ("/api/v1/episodes", {"run_id": "run-0", "cursor": cursor}),
        ("/api/v1/traces", {"run_id": "run-0", "cursor": cursor[:-1]}),
        ("/api/v1/traces", {"run_id": "run-0", "cursor": "!"}),
        ("/api/v1/traces", {"run_id": "run-0", "cursor": "é"}),
        ("/api/v1/traces", {"run_id": "run-0", "cursor": ""}),
    ):
        assert code_of(library.get(path, params=params)) == (400, "invalid_cursor")


def test_raw_takes_true_or_false_alone(library: httpx.Client) -> None:
    assert library.get("/api/v1/traces/t00?raw=false").json()["trace_id"] == "t00"
    assert code_of(library.get("/api/v1/traces/t00?raw=x")) == (400, "invalid_filter")
    assert code_of(library.get("/api/v1/traces/t00?what=x")) == (400, "invalid_filter")


def test_raw_bytes_across_blocks(client: httpx.Client) -> None:
    members = [trace(f"block-{n}", text=f"{n}" * 700_000) for n in range(5)]
    records = [episode(f"blocks-{n}", *members[n:]) if n == 0 else episode(f"blocks-{n}") for n in range(2)]
    assert post(client, jsonl(*records), line_format="episode").status_code == 201
    for member in members:
        assert client.get(f"/api/v1/traces/{member['id']}?raw=true").content == dumps(member)
    for record in records:
        response = client.get(f"/api/v1/episodes/{record['id']}?raw=true")
        assert response.content == dumps(record)
        assert response.headers["content-length"] == str(len(response.content))


def test_white_space_and_escapes_survive(client: httpx.Client) -> None:
    member = b'{ "id" :\t"\\u0073pacey", "traces_": [ 1 , 2 ],"x":"\\ud83d\\ude00\\\\ud800" }'
    line = b' { "traces" : [ ' + member + b' , {"id":"other"} ] , "id":"spacey episode", "copy": ' + member + b"} \r"
    assert post(client, line + b"\n", line_format="episode").status_code == 201
    assert client.get("/api/v1/traces/spacey?raw=true").content == member
    assert client.get("/api/v1/episodes/spacey episode?raw=true").content == line
