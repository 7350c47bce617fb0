"""Metrics and records in files: what is logged is there, line by line, where it belongs."""

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from pydantic import BaseModel

from encoder.synthetic import synthetic_episode
from tests.uploader.monitors.doubles import chat, read_lines
from uploader.errors import ConfigurationError
from uploader.monitors import FileMonitor, Where, open_files
from uploader.monitors.chunks import folder_of
from uploader.runs import exits
from uploader.worker.counts import Counts


class Plain(BaseModel):
    x: int = 1


class Gated:
    """A record that waits in the writing thread."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def iter_json(self) -> Iterator[bytes]:
        self.begun.set()
        assert self.go_on.wait(30)
        yield b"{}"


class Broken:
    """A record that fails in its middle."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def iter_json(self) -> Iterator[bytes]:
        yield b'{"half":' + b" " * 100_000
        raise self.error


@pytest.fixture
async def monitor(tmp_path: Path) -> AsyncIterator[FileMonitor]:
    monitor = FileMonitor(tmp_path / "out", finish_timeout_s=30)
    yield monitor
    await monitor.finalize()


def traces(monitor: FileMonitor, where: Where, name: str = "traces.jsonl") -> list[bytes]:
    return read_lines(folder_of(monitor.path, where) / name)


def metrics(monitor: FileMonitor) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in read_lines(monitor.path / "metrics.jsonl")]


async def test_records_are_where_they_belong(monitor: FileMonitor) -> None:
    episodes = [chat(number) for number in range(4)]
    await monitor.log(episodes[0], 3)
    await monitor.log([episodes[1], episodes[2].to_record()], 3)
    await monitor.log(episodes[0], 3, subset="effective")
    await monitor.log(episodes[3], 4, "eval")
    await monitor.log(episodes[3].traces[0], 5)
    await monitor.log([Plain(x=2), b'{"line":1}\n', {"a": np.float64(0.5)}], 6)
    assert await monitor.flush()
    assert traces(monitor, Where(3)) == [episodes[number].to_json() for number in range(3)]
    assert traces(monitor, Where(3, subset="effective")) == [episodes[0].to_json()]
    assert traces(monitor, Where(4, "eval")) == [episodes[3].to_json()]
    assert traces(monitor, Where(5)) == [episodes[3].traces[0].to_json()]
    assert traces(monitor, Where(6)) == [b'{"x":2}', b'{"line":1}', b'{"a":0.5}']
    assert monitor.stats.counts == Counts(submitted=9, stored=9)
    assert (monitor.stats.records, monitor.stats.dropped, monitor.stats.failures) == (9, 0, 0)
    assert monitor.stats.written_bytes == sum(
        len(line) + 1
        for where in (Where(3), Where(3, subset="effective"), Where(4, "eval"), Where(5), Where(6))
        for line in traces(monitor, where)
    )


async def test_rows_of_metrics_are_lines(monitor: FileMonitor) -> None:
    await monitor.log({"loss": 0.5, "bad": math.nan, "n": np.int64(3), "nested": {"x": [1.0, math.inf]}}, 1)
    await monitor.log({"reward": 1, "_timestamp": 5}, 2, "eval", "effective")
    await monitor.log({"bad": math.inf}, 3)
    assert await monitor.flush()
    first, second = metrics(monitor)
    assert isinstance(first.pop("_timestamp"), float)
    assert first == {"step": 1, "kind": "train", "subset": "all", "loss": 0.5, "n": 3, "nested": {"x": [1.0]}}
    assert second == {"step": 2, "kind": "eval", "subset": "effective", "reward": 1, "_timestamp": 5}
    assert monitor.stats.metrics == 2


async def test_metrics_do_not_wait_for_records(monitor: FileMonitor) -> None:
    gated = Gated()
    await monitor.log(gated, 0)
    await monitor.log({"loss": 0.5}, 0)
    path = monitor.path / "metrics.jsonl"
    while not path.exists() or not path.read_bytes().endswith(b"\n"):
        await asyncio.sleep(0.001)
    gated.go_on.set()


async def test_a_record_is_written_as_its_pieces_come(monitor: FileMonitor) -> None:
    asked, go_on = threading.Event(), threading.Event()

    class Growing:
        def iter_json(self) -> Iterator[bytes]:
            yield b'"' + b"x" * 300_000
            asked.set()
            assert go_on.wait(30)
            yield b'"'

    await monitor.log(Growing(), 0)
    assert asked.wait(30)
    path = folder_of(monitor.path, Where(0)) / "traces.jsonl"
    assert path.stat().st_size == 300_001  # before the next piece was made
    go_on.set()
    assert await monitor.flush()
    assert traces(monitor, Where(0)) == [b'"' + b"x" * 300_000 + b'"']


@pytest.mark.parametrize("compress", ["gz", "zst"])
async def test_records_are_compressed_each_by_itself(tmp_path: Path, compress: Any) -> None:
    episodes = [synthetic_episode(number, num_nodes=6, tokens_per_node=200) for number in range(3)]
    for half in (episodes[:2], episodes[2:]):  # a second monitor goes on behind the first
        async with FileMonitor(tmp_path, compress=compress) as monitor:
            await monitor.log(half, 0)
            await monitor.log({"loss": 0.5}, 0)
    path = folder_of(tmp_path, Where(0)) / f"traces.jsonl.{compress}"
    assert read_lines(path) == [episode.to_json() for episode in episodes]
    assert path.stat().st_size < sum(len(episode.to_json()) for episode in episodes) / 2
    assert len(metrics(monitor)) == 2


async def test_files_end_at_their_size(tmp_path: Path) -> None:
    line = chat().to_json()
    async with FileMonitor(tmp_path, chunk_bytes=len(line) + 2) as monitor:
        await monitor.log([chat(), chat(), chat()], 0)
    assert traces(monitor, Where(0)) == [line] * 2
    assert traces(monitor, Where(0), "traces_001.jsonl") == [line]


async def test_many_steps_share_a_few_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "MAX_OPEN", 2)
    async with FileMonitor(tmp_path) as monitor:
        for number in range(12):
            await monitor.log(chat(number), number % 4)
    for step in range(4):
        assert traces(monitor, Where(step)) == [chat(number).to_json() for number in range(step, 12, 4)]


async def test_log_returns_once_all_is_queued(monitor: FileMonitor) -> None:
    gated = Gated()
    await monitor.log(gated, 0)
    assert gated.begun.wait(30)
    with pytest.raises(StopIteration):
        monitor.log([chat(), chat()], 0).send(None)  # it never gave way
    stats = monitor.stats
    assert (stats.counts.submitted, stats.counts.queued, stats.counts.encoding) == (3, 2, 1)
    assert stats.queued_bytes > 0
    assert not await monitor.flush(0.01)
    gated.go_on.set()
    assert await monitor.flush()


async def test_a_record_that_fails_costs_itself_alone(monitor: FileMonitor, caplog: pytest.LogCaptureFixture) -> None:
    await monitor.log([chat(1), Broken(ValueError("no")), b"1\n2", b" ", 5, Broken(SystemExit()), chat(2)], 0)
    assert await monitor.flush()
    assert traces(monitor, Where(0)) == [chat(1).to_json(), chat(2).to_json()]
    counts = monitor.stats.counts
    assert (counts.stored, counts.rejected) == (2, 5)
    assert counts.rejected_reasons == {"it cannot be written": 4, "a thread of the worker failed on it": 1}
    assert monitor.stats.failures == 5
    assert "record 2 (index 1): ValueError: no" in caplog.text


async def test_records_that_find_no_room_are_dropped_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = FileMonitor(tmp_path, max_queued_records=2)
    gated = Gated()
    await monitor.log(gated, 0)
    assert gated.begun.wait(30)
    for number in range(5):
        await monitor.log(chat(number), 0)
    gated.go_on.set()
    await monitor.finalize()
    assert traces(monitor, Where(0)) == [b"{}", chat(0).to_json(), chat(1).to_json()]
    assert (monitor.stats.records, monitor.stats.dropped) == (6, 3)
    assert caplog.text.count("Records are dropped, and counted: the queue holds too many records") == 1
    assert "3 of 6 records were written" in caplog.text


async def test_behind_the_end_nothing_is_taken(tmp_path: Path) -> None:
    monitor = FileMonitor(tmp_path)
    await monitor.log(chat(), 0)
    await monitor.finalize()
    await monitor.finalize()
    await monitor.log([chat(), chat()], 0)
    await monitor.log({"loss": 0.5}, 0)
    assert await monitor.flush()
    assert (monitor.stats.counts.stored, monitor.stats.dropped) == (1, 3)
    assert not (tmp_path / "metrics.jsonl").exists()


async def test_what_was_never_used_leaves_nothing_behind(tmp_path: Path) -> None:
    async with FileMonitor(tmp_path / "out") as monitor:
        pass
    assert not monitor.path.exists()
    await FileMonitor(tmp_path / "out").finalize()
    assert not monitor.path.exists()


async def test_the_end_leaves_only_what_was_logged(tmp_path: Path) -> None:
    before = {thread.name for thread in threading.enumerate()}
    async with FileMonitor(tmp_path) as monitor:
        await monitor.log(chat(), 0)
        await monitor.log({"loss": 0.5}, 0)
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["metrics.jsonl", "rollouts/step_0/train/all/traces.jsonl"]
    assert monitor not in exits._open.values()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert {thread.name for thread in threading.enumerate() if thread.name == "uploader file"} <= before


async def test_a_second_monitor_for_a_folder_waits_until_the_first_has_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = FileMonitor(tmp_path), FileMonitor(tmp_path)
    await first.log(chat(1), 0)
    assert await first.flush()
    await second.log(chat(2), 0)
    await second.log({"loss": 0.5}, 0)
    while not second.stats.is_failing:
        await asyncio.sleep(0.001)
    assert "another FileMonitor writes there" in str(second.stats.last_error)
    await first.finalize()
    await second.finalize()
    assert traces(second, Where(0)) == [chat(1).to_json(), chat(2).to_json()]
    assert not second.stats.is_failing


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"chunk_bytes": 0}, "chunk_bytes"),
        ({"max_queued_bytes": -1}, "max_queued_bytes"),
        ({"max_queued_records": 1.5}, "max_queued_records"),
        ({"max_queued_records": True}, "max_queued_records"),
        ({"compress": "zip"}, "compress"),
        ({"finish_timeout_s": -1}, "finish_timeout_s"),
        ({"path": 5}, "path"),
    ],
)
def test_options_that_cannot_be_used(tmp_path: Path, options: Any, option: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        FileMonitor(**{"path": tmp_path, **options})
    assert raised.value.option == option


async def test_a_finished_record_is_let_go(monitor: FileMonitor) -> None:
    import weakref

    episode = chat()
    reference = weakref.ref(episode)
    await monitor.log([episode], 0)
    del episode
    assert await monitor.flush()
    while reference() is not None:
        await asyncio.sleep(0.001)
