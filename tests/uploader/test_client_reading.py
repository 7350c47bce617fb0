"""Reading back through both clients, of a scripted service."""

from pathlib import Path
from typing import Any

import httpx
import pytest

import uploader
from tests.uploader.faces import URL, Face, both
from uploader.testing import ScriptedTransport, fake_time, json_response, refusal

SUMMARY = {
    "trace_id": "t", "upload_id": "u", "episode_id": None, "created_at": "2026-01-01T00:00:00Z",
    "ingested_at": "2026-01-01T00:00:01Z", "run_id": "r", "environment_id": None,
    "model": {"provider": None, "id": "m"}, "task_id": None, "agent_name": "a",
    "score": {"reward": 0.5, "outcome": None}, "execution": {"has_error": False, "is_truncated": False},
    "duration_ms": 1, "total_tokens": 2, "size_bytes": 3, "context": {"k": "v"}, "added_later": 1,
}  # fmt: skip
EPISODE = {
    "episode_id": "e", "upload_id": "u", "schema_version": 1, "created_at": "2026-01-01T00:00:00Z",
    "ingested_at": "2026-01-01T00:00:01Z", "run_id": None, "environment_id": None, "outcome": None,
    "has_error": True, "error": {"type": "E", "message": "m"},
}  # fmt: skip
TOTALS = {
    "trace_count": 1, "total_tokens": 2, "total_duration_ms": 3, "any_trace_error": False, "agent_names": ["a"],
}  # fmt: skip
RUN = {
    "run_id": "r", "first_trace_created_at": "2026-01-01T00:00:00Z",
    "last_trace_created_at": "2026-01-01T00:00:00Z", "last_trace_ingested_at": "2026-01-01T00:00:00Z",
    "trace_count": 1, "episode_count": 1, "avg_reward": None, "step_min": None, "step_max": None, "step_count": 0,
    "has_error": False, "first_user_id": None, "environment_ids": [], "model_ids": ["m"], "context": {},
}  # fmt: skip
NODE = {"node_idx": 0, "parent_idx": None, "timestamp": 1.5, "sampled": False,
        "message": {"role": "user", "content": "hi"}}  # fmt: skip
CALL = {"call_idx": 0, "node_idx": 1, "time_start": 1.0, "time_end": None, "model": "m", "endpoint": None,
        "finish_reason": "stop"}  # fmt: skip
STEPS = {"step_min": 0, "step_max": 0, "step_count": 1,
         "items": [{"step": 0, "trace_count": 1, "episode_count": 1, "avg_reward": 0.5}]}  # fmt: skip


def page(*items: Any, cursor: str | None = None) -> dict[str, Any]:
    return {"items": list(items), "next_cursor": cursor}


READS = [
    ("list", (), {"run_id": "r"}, page(SUMMARY), "/traces?run_id=r", lambda got: got.items[0].score.reward == 0.5),
    ("get", ("t/1",), {}, SUMMARY, "/traces/t%2F1", lambda got: got.added_later == 1),
    ("list_nodes", ("t",), {"role": ["user"], "limit": 5}, page(NODE), "/traces/t/nodes?role=user&limit=5",
     lambda got: got.items[0].message.content == "hi"),
    ("list_calls", ("t",), {}, page(CALL), "/traces/t/calls", lambda got: got.items[0].finish_reason == "stop"),
    ("list_episodes", (), {"context": {"a": "b"}}, page(EPISODE), "/episodes?context.a=b",
     lambda got: got.items[0].error.type == "E"),
    ("get_episode", ("e",), {}, EPISODE | {"traces": TOTALS}, "/episodes/e", lambda got: got.traces.trace_count == 1),
    ("list_episode_traces", ("e",), {}, page(SUMMARY), "/episodes/e/traces", lambda got: got.next_cursor is None),
    ("list_runs", (), {"run_type": "eval"}, page(RUN), "/runs?run_type=eval", lambda got: got.items[0].run_id == "r"),
    ("get_run", ("r",), {}, RUN, "/runs/r", lambda got: got.model_ids == ["m"]),
    ("list_run_steps", ("r",), {}, STEPS, "/runs/r/steps", lambda got: got.items[0].avg_reward == 0.5),
]  # fmt: skip


@both
@pytest.mark.parametrize(("method", "args", "kwargs", "body", "path", "check"), READS, ids=[read[0] for read in READS])
def test_reading_back(face: Face, method: str, args: Any, kwargs: Any, body: Any, path: str, check: Any) -> None:
    transport = ScriptedTransport([503, httpx.ReadError("cut"), json_response(200, body)])
    with fake_time() as clock:
        assert check(face.call(transport, method, *args, **kwargs))
    assert [request.method for request in transport.requests] == ["GET"] * 3
    assert {f"{URL}/api/v1{path}"} == {str(request.url) for request in transport.requests}
    assert clock.sleeps == [1, 2]


@both
@pytest.mark.parametrize(
    ("method", "item", "ids"),
    [("iter", SUMMARY, "trace_id"), ("iter_episodes", EPISODE, "episode_id"), ("iter_runs", RUN, "run_id")],
)
def test_iterating_goes_through_all_pages(face: Face, method: str, item: dict[str, Any], ids: str) -> None:
    transport = ScriptedTransport(
        [
            json_response(200, page(item | {ids: "1"}, item | {ids: "2"}, cursor="c&1")),
            json_response(200, page(cursor="c2")),
            json_response(200, page(item | {ids: "3"})),
        ]
    )
    found = face.call(transport, method, limit=2)
    assert [getattr(one, ids) for one in found] == ["1", "2", "3"]
    assert [dict(request.url.params) for request in transport.requests] == [
        {"limit": "2"},
        {"limit": "2", "cursor": "c&1"},
        {"limit": "2", "cursor": "c2"},
    ]


@both
def test_reading_errors(face: Face) -> None:
    for answer, cls in [
        (refusal(404, "run_not_found"), uploader.NotFoundError),
        (refusal(409, "trace_not_indexed"), uploader.TraceNotIndexedError),
        (httpx.Response(200, content=b"<html>"), uploader.InvalidAnswerError),
    ]:
        with pytest.raises(cls):
            face.call(ScriptedTransport([answer]), "get_run", "r")


class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that ends too soon."""

    def __iter__(self) -> Any:
        yield b"half of "
        raise httpx.ReadError("reset")

    async def __aiter__(self) -> Any:
        for chunk in self:
            yield chunk


@both
@pytest.mark.parametrize(("get", "download", "kind"), [
    ("get_raw", "download_raw", "traces"), ("get_episode_raw", "download_episode_raw", "episodes")
])  # fmt: skip
def test_raw_documents(face: Face, get: str, download: str, kind: str, tmp_path: Path) -> None:
    raw = bytes(range(256)) * 4000

    def script() -> ScriptedTransport:
        return ScriptedTransport([503, httpx.Response(200, stream=Broken()), httpx.Response(200, content=raw)])

    with fake_time():
        transport = script()
        assert face.call(transport, get, "x y") == raw
        assert str(transport.requests[0].url) == f"{URL}/api/v1/{kind}/x%20y?raw=true"
        assert face.call(script(), download, "x", tmp_path / "raw") == len(raw)
    assert (tmp_path / "raw").read_bytes() == raw
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


@both
def test_a_failed_download_leaves_nothing(face: Face, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"old")
    transport = ScriptedTransport([httpx.Response(200, stream=Broken()) for _ in range(5)])
    with fake_time(), pytest.raises(uploader.TransportError):
        face.call(transport, "download_raw", "t", tmp_path / "raw")
    assert (tmp_path / "raw").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]
