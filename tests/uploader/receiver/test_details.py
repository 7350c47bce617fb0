"""Pages of nodes and calls."""

from typing import Any

import httpx
import pytest

from tests.uploader.receiver.support import code_of, jsonl, post, trace
from tests.uploader.receiver.test_app import pages

NODES = [
    {
        "parent": n - 1 if n else None,
        "message": {"role": ["user", "assistant", "tool"][n % 3], "content": f"{n}"},
        "sampled": n % 3 == 1,
        "timestamp": float(n),
        "token_ids": [1, 2, 3],
    }
    for n in range(230)
]
CALLS = [
    {"node": n, "model": f"m{n % 2}", "endpoint": None, "finish_reason": "stop", "time": {"start": 1.0, "end": 2.0}}
    for n in range(120)
]


@pytest.fixture(scope="module")
def stored(client: httpx.Client) -> httpx.Client:
    assert post(client, jsonl(trace("long", nodes=NODES, calls=CALLS), trace("bad", nodes="none"))).status_code == 201
    odd = [{"message": "text"}, {"message": {}}, {}]
    assert post(client, jsonl(trace("odd", nodes=odd, calls=[{}]), {"id": "bare"})).status_code == 201
    return client


@pytest.mark.parametrize("limit", [1, 50, 100])
def test_pages_of_nodes(stored: httpx.Client, limit: int) -> None:
    items = [item for part in pages(stored, "/api/v1/traces/long/nodes", {"limit": limit}) for item in part]
    assert [item["node_idx"] for item in items] == list(range(230))
    assert items[5] == {
        "node_idx": 5,
        "parent_idx": 4,
        "timestamp": 5.0,
        "sampled": False,
        "message": {"role": "tool", "content": "5"},
    }


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"role": "tool"}, [n for n in range(230) if n % 3 == 2]),
        ({"role": ["tool", "user"]}, [n for n in range(230) if n % 3 != 1]),
        ({"sampled": "true"}, [n for n in range(230) if n % 3 == 1]),
        ({"sampled": "false", "role": "user"}, [n for n in range(230) if n % 3 == 0]),
        ({"role": "nobody"}, []),
    ],
)
def test_filters_of_nodes(stored: httpx.Client, params: dict[str, Any], expected: list[int]) -> None:
    found = pages(stored, "/api/v1/traces/long/nodes", {**params, "limit": 7})
    assert [item["node_idx"] for part in found for item in part] == expected


def test_nodes_after_one(stored: httpx.Client) -> None:
    page = stored.get("/api/v1/traces/long/nodes?after=226").json()
    assert [item["node_idx"] for item in page["items"]] == [227, 228, 229]
    assert (page["next_cursor"], page["partial_index"]) == (None, False)
    cursor = stored.get("/api/v1/traces/long/nodes?limit=1").json()["next_cursor"]
    both = stored.get(f"/api/v1/traces/long/nodes?after=1&cursor={cursor}")
    assert code_of(both) == (400, "invalid_filter")


def test_calls(stored: httpx.Client) -> None:
    found = pages(stored, "/api/v1/traces/long/calls", {"model": "m1", "limit": 25})
    assert [item["call_idx"] for part in found for item in part] == list(range(1, 120, 2))
    assert stored.get("/api/v1/traces/long/calls?finish_reason=length").json()["items"] == []
    assert found[0][0] == {
        "call_idx": 1,
        "node_idx": 1,
        "time_start": 1.0,
        "time_end": 2.0,
        "model": "m1",
        "endpoint": None,
        "finish_reason": "stop",
    }


def test_odd_nodes(stored: httpx.Client) -> None:
    messages = [item["message"] for item in stored.get("/api/v1/traces/odd/nodes").json()["items"]]
    assert messages == [{"role": None, "content": "text"}, {"role": None}, {"role": None}]
    assert stored.get("/api/v1/traces/odd/nodes?role=user").json()["items"] == []
    assert stored.get("/api/v1/traces/odd/calls").json()["items"][0]["time_start"] is None
    assert stored.get("/api/v1/traces/bare/nodes").json()["items"] == []
    assert code_of(stored.get("/api/v1/traces/bad/nodes")) == (409, "trace_not_indexed")


@pytest.mark.parametrize("query", ["x=1", "sampled=maybe", "after=x", "sampled=true&sampled=true", "limit=101"])
def test_bad_filters(stored: httpx.Client, query: str) -> None:
    assert code_of(stored.get(f"/api/v1/traces/long/nodes?{query}")) == (400, "invalid_filter")


def test_a_cursor_of_another_trace(stored: httpx.Client) -> None:
    cursor = stored.get("/api/v1/traces/long/nodes?limit=1").json()["next_cursor"]
    for path in ("odd/nodes", "long/calls"):
        assert code_of(stored.get(f"/api/v1/traces/{path}", params={"cursor": cursor})) == (400, "invalid_cursor")
