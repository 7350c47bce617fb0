"""Examples of how the clients are called; what counts is that a strict type checker accepts them."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Literal, Unpack, assert_type

import pytest

from uploader import (
    AsyncTracesClient,
    Batch,
    ConfigurationError,
    EpisodeDetail,
    EpisodeSummary,
    LineFormat,
    RecordError,
    RecordFailure,
    RecordHook,
    Run,
    RunReport,
    TraceListPage,
    TracesClient,
    TraceSummary,
    TraceTooLargeError,
    UploadArguments,
    UploadReceipt,
    init,
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


def upload_episodes(
    client: TracesClient,
    episodes: Iterable[Mapping[str, object]],
    *,
    on_record_error: RecordHook | None = None,
    **arguments: Unpack[UploadArguments],
) -> list[UploadReceipt]:
    """A wrapper that passes on what it does not know better."""
    arguments["line_format"] = "episode"
    return client.upload_records(episodes, on_record_error=on_record_error, **arguments)


def note(error: RecordFailure) -> None:
    assert_type(error, RecordError | TraceTooLargeError)


def test_a_typed_wrapper() -> None:
    transport = ScriptedTransport()
    with TracesClient("key", "http://service.test", "", transport=transport) as client:
        assert len(upload_episodes(client, [{"a": 1}], on_record_error=note, on_batch=show, max_attempts=2)) == 1
    assert transport.requests[0].headers["x-prime-line-format"] == "episode"


def test_only_line_formats_are_line_formats() -> None:
    with TracesClient("key", "http://service.test", "", transport=ScriptedTransport()) as client:
        kind: Literal["trace", "episode"]
        for kind in ("trace", "episode"):
            client.upload_lines(LINES, line_format=kind)
        with pytest.raises(ConfigurationError, match="line_format"):
            client.upload_lines(LINES, line_format="foo")  # type: ignore[arg-type]


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


def logging_to_a_run(episodes: Iterable[Mapping[str, object]]) -> RunReport:
    """A run, as a training loop would have it."""
    with init(kind="train", mode="disabled", environments=["gsm8k", {"id": "math"}], config={"lr": 1e-6}) as run:
        assert_type(run, Run)
        assert_type(run.log_episodes(episodes, step=3), bool)
        assert_type(run.log_metrics({"loss": 0.5}, step=3), bool)
        assert_type(run.flush(1.0), bool)
        assert_type(run.stats.counts.stored, int)
    return run.finish()


async def alogging_to_a_run() -> None:
    async with init(kind="eval", mode="disabled") as run:
        assert_type(await run.aflush(), bool)
    assert_type(await run.afinish({"accuracy": 0.5}), RunReport)


async def test_runs_are_called_as_the_examples_do() -> None:
    assert logging_to_a_run([{"id": "e"}]).status == "completed"
    await alogging_to_a_run()
