"""Examples of how the clients are called; what counts is that a strict type checker accepts them."""

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from uploader import (
    AsyncTracesClient,
    Batch,
    EpisodeDetail,
    EpisodeSummary,
    LineFormat,
    TraceListPage,
    TracesClient,
    TraceSummary,
    UploadReceipt,
)
from uploader.testing import ScriptedTransport

LINES = [b"{}\n"]


def show(batch: Batch, receipt: UploadReceipt) -> None:
    assert batch.digest == receipt.upload_id


async def ashow(batch: Batch, receipt: UploadReceipt) -> None:
    show(batch, receipt)


def reading(client: TracesClient) -> None:
    assert_type(client.list(run_id="r", reward_min=0.5, context={"k": "v"}), TraceListPage)
    assert_type(client.iter(upload_id=["a", "b"]), Iterator[TraceSummary])
    assert_type(client.get_episode("e"), EpisodeDetail)
    assert_type(client.get_raw("t"), bytes)
    assert_type(client.download_raw("t", "file"), int)


async def areading(client: AsyncTracesClient) -> None:
    assert_type(await client.list(limit=5), TraceListPage)
    assert_type(client.iter_episodes(has_error=True), AsyncIterator[EpisodeSummary])
    assert_type((await client.list_nodes("t", role=["user"])).items[0].message.role, str | None)


def test_sync() -> None:
    with TracesClient("key", "http://service.test", "team", timeout=5, transport=ScriptedTransport()) as client:
        receipts = client.upload_lines(LINES, line_format=LineFormat.EPISODE, compress=2, on_batch=show)
        assert_type(receipts, list[UploadReceipt])
        client.upload_records([{"a": 1}], line_format="episode", context=None, max_in_flight=2)


async def test_async() -> None:
    async with AsyncTracesClient("key", "http://service.test", transport=ScriptedTransport(), team_id="") as client:
        assert_type(await client.upload_lines(LINES, on_batch=ashow), list[UploadReceipt])
        assert_type(await client.upload_lines(aiter_lines(), on_batch=show), list[UploadReceipt])


async def aiter_lines() -> AsyncIterator[bytes]:
    for line in LINES:
        yield line
