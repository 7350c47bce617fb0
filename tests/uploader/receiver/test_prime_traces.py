"""The service's public client, which we did not write, uploads to our receiver and reads back from it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prime_traces import AsyncTracesClient, LineFormat, TracesClient
from prime_traces.exceptions import LineFormatConflictError, NotFoundError, UnauthorizedError, ValidationRejectedError

from tests.uploader.receiver.support import dumps, episode, trace
from uploader.receiver import ReceiverProcess

RUN = {"type": "train", "id": "run", "work": {"type": "train", "step": 4}}


def records(name: str) -> list[dict[str, Any]]:
    nodes = [
        {"parent": None, "message": {"role": "user", "content": "héllo 🙂"}, "sampled": False, "timestamp": 1.0},
        {
            "parent": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": []},
            "sampled": True,
            "timestamp": 2.0,
        },
    ]
    calls = [{"node": 1, "model": "m", "endpoint": "chat", "finish_reason": "stop", "time": {"start": 1.5, "end": 2.5}}]
    return [
        episode(f"{name}-{e}", *(trace(f"{name}-{e}-{t}", nodes=nodes, calls=calls, run=RUN) for t in range(3)))
        for e in range(4)
    ]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ReceiverProcess(tmp_path_factory.mktemp("prime"), "key") as receiver:
        yield receiver.url


def test_sync(url: str, tmp_path: Path) -> None:
    sent = records("sync")
    with TracesClient(api_key="key", base_url=f"{url}/api/v1/") as client:
        receipts = client.upload_records(
            sent, line_format=LineFormat.EPISODE, context={"k": "v"}, target_batch_bytes=1000
        )
        assert len(receipts) == 4
        assert {receipt.status for receipt in receipts} == {"committed"}
        assert client.upload_records(sent, line_format=LineFormat.EPISODE, target_batch_bytes=1000) == receipts
        listed = list(client.iter(run_id="run", context={"k": "v"}, limit=5))
        assert {item.trace_id for item in listed} == {member["id"] for record in sent for member in record["traces"]}
        member = sent[1]["traces"][2]
        assert client.get(member["id"]).episode_id == "sync-1"
        assert client.get_raw(member["id"]) == dumps(member)
        assert client.download_raw(member["id"], tmp_path / "raw") == len(dumps(member))
        nodes = client.list_nodes(member["id"])
        assert [(node.node_idx, node.parent_idx, node.sampled) for node in nodes.items] == [
            (0, None, False),
            (1, 0, True),
        ]
        assert nodes.items[0].message.content == "héllo 🙂"
        assert [node.node_idx for node in client.list_nodes(member["id"], role=["assistant"]).items] == [1]
        assert [node.node_idx for node in client.list_nodes(member["id"], after=0).items] == [1]
        assert client.list_calls(member["id"]).items[0].time_end == 2.5
        assert client.list_calls(member["id"], model=["other"]).items == []
        assert {item.episode_id for item in client.list_episodes(upload_id=[r.upload_id for r in receipts]).items} == {
            record["id"] for record in sent
        }
        assert client.get_episode("sync-1").traces.trace_count == 3
        assert client.get_episode_raw("sync-1") == dumps(sent[1])
        assert len(client.list_episode_traces("sync-1").items) == 3
        assert client.get_run("run").step_min == 4
        assert client.list_runs().items[0].run_id == "run"
        assert client.list_run_steps("run").step_count == 1


async def test_async(url: str) -> None:
    sent = records("async")
    async with AsyncTracesClient(api_key="key", base_url=url) as client:
        receipts = await client.upload_records(sent, line_format=LineFormat.EPISODE, compress=False)
        assert len(receipts) == 1
        found = [item async for item in client.iter(upload_id=receipts[0].upload_id, limit=5)]
        assert len(found) == 12
        raw = await asyncio.gather(*(client.get_raw(item.trace_id) for item in found))
        assert {bytes(data) for data in raw} == {dumps(member) for record in sent for member in record["traces"]}
        assert await client.get_episode_raw("async-3") == dumps(sent[3])


def test_refusals_are_the_errors_it_knows(url: str) -> None:
    with TracesClient(api_key="key", base_url=url) as client:
        with pytest.raises(NotFoundError):
            client.get("nobody")
        with pytest.raises(ValidationRejectedError, match="Line 2") as caught:
            client.upload_records([trace("one"), {"no": "id"}])
        assert caught.value.code == "invalid_trace"
        client.upload_records([trace("two")])
        with pytest.raises(LineFormatConflictError):
            client.upload_records([trace("two")], line_format=LineFormat.EPISODE)
    with TracesClient(api_key="wrong", base_url=url) as client, pytest.raises(UnauthorizedError):
        client.upload_records([trace("three")])
