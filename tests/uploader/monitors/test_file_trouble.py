"""Disks that fail, processes that fork, and exits without an end: nothing is lost that a disk could take."""

import _thread
import asyncio
import logging
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from encoder.synthetic import synthetic_episode
from tests.uploader.monitors.doubles import chat, read_lines
from tests.uploader.monitors.test_file import Gated, metrics, traces
from tests.uploader.worker.test_forks import in_child
from uploader.monitors import FileMonitor, Where
from uploader.monitors import disk as disk_
from uploader.monitors.chunks import folder_of
from uploader.worker.counts import Counts


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_, "_FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(disk_, "_LONGEST_PAUSE_S", 0.01)


async def until_it_fails(monitor: FileMonitor) -> None:
    while not monitor.stats.is_failing:
        await asyncio.sleep(0.001)


async def test_a_folder_that_is_taken_away_and_given_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root, aside = tmp_path / "out", tmp_path / "aside"
    monitor = FileMonitor(root)
    await monitor.log(chat(0), 0)
    await monitor.log({"loss": 0.0}, 0)
    assert await monitor.flush()
    root.rename(aside)
    root.write_bytes(b"a file where the folder was")
    for number in (1, 2):
        await monitor.log(chat(number), 0)
        await monitor.log({"loss": float(number)}, 0)
    await until_it_fails(monitor)
    assert not await monitor.flush(0.05)
    root.unlink()
    aside.rename(root)
    assert await monitor.flush()
    assert traces(monitor, Where(0)) == [chat(number).to_json() for number in range(3)]
    assert [row["loss"] for row in metrics(monitor)] == [0.0, 1.0, 2.0]
    await monitor.finalize()
    assert (monitor.stats.counts, monitor.stats.dropped) == (Counts(submitted=3, stored=3), 0)
    assert monitor.stats.failures > 0
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) <= 4  # once for each kind, of records and of metrics
    assert "can be written to again" in caplog.text


async def test_a_folder_that_is_removed_is_made_anew(tmp_path: Path) -> None:
    monitor = FileMonitor(tmp_path / "out")
    await monitor.log([chat(0)], 0)
    await monitor.log({"loss": 0.0}, 0)
    assert await monitor.flush()
    shutil.rmtree(monitor.path)
    await monitor.log([chat(1)], 0)
    await monitor.log({"loss": 1.0}, 0)
    await monitor.finalize()
    assert traces(monitor, Where(0)) == [chat(1).to_json()]
    assert [row["loss"] for row in metrics(monitor)] == [1.0]


async def test_memory_is_bounded_while_the_disk_fails(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"")
    line = len(chat().to_json())
    monitor = FileMonitor(tmp_path / "out", max_queued_bytes=10 * line, finish_timeout_s=0.1)
    for number in range(50):
        await monitor.log(chat(number).to_json(), 0)
    await until_it_fails(monitor)
    counts = monitor.stats.counts
    assert counts.queued + counts.encoding + counts.dropped == 50
    assert counts.queued <= 10
    assert monitor.stats.queued_bytes <= 10 * line
    assert counts.dropped_reasons == {"the queue holds too many bytes": counts.dropped}
    (tmp_path / "out").unlink()
    assert await monitor.flush()
    assert len(traces(monitor, Where(0))) == 50 - counts.dropped
    await monitor.finalize()


async def test_the_end_waits_no_longer_than_its_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "out").write_bytes(b"")
    monitor = FileMonitor(tmp_path / "out", finish_timeout_s=0.05)
    await monitor.log([chat(0), chat(1)], 0)
    await monitor.log({"loss": 0.5}, 0)
    await until_it_fails(monitor)
    await monitor.finalize()
    assert monitor.stats.counts == Counts(
        submitted=2, dropped=2, dropped_reasons={"there was no time left at the end": 2}
    )
    assert monitor.stats.dropped == 3
    assert "0 of 2 records were written" in caplog.text
    assert "1 rows of metrics were lost" in caplog.text
    assert await asyncio.to_thread(monitor._engine.writing.thread.ended.wait, 30)


async def test_a_cancellation_ends_the_waiting(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"")
    monitor = FileMonitor(tmp_path / "out", finish_timeout_s=600)
    await monitor.log(chat(0), 0)
    await until_it_fails(monitor)
    ending = asyncio.ensure_future(monitor.finalize())
    await asyncio.sleep(0.01)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert monitor.stats.dropped == 1


@pytest.mark.parametrize("chunk_bytes", [1, None])  # a file for each record, or one
async def test_what_the_disk_could_not_make_safe_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int | None
) -> None:
    monitor = FileMonitor(tmp_path, chunk_bytes)
    real, refusals = os.fsync, [True]

    def sync(descriptor: int) -> None:
        if refusals and refusals.pop():
            raise OSError("the disk forgot it")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    await monitor.log([chat(0), chat(1)], 0)
    assert not await monitor.flush()
    assert await monitor.flush()
    assert monitor.stats.last_error == "forcing records to disk: OSError: the disk forgot it"
    await monitor.finalize()


FULL = """
import asyncio, resource, sys
from encoder.synthetic import synthetic_episode
from uploader.monitors import FileMonitor, disk
from uploader.monitors.codecs import open_codec
disk._FIRST_PAUSE_S = disk._LONGEST_PAUSE_S = 0.001
path, compress = sys.argv[1], sys.argv[2] or None

async def main():
    monitor = FileMonitor(path, compress=compress)
    episodes = [synthetic_episode(number, num_nodes=10, tokens_per_node=400) for number in range(4)]
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    await monitor.log(episodes[:2], 0)
    assert await monitor.flush()
    size = max(file.stat().st_size for file in monitor.path.rglob("traces*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + size // 4, limit[1]))  # in the middle of the next one
    await monitor.log(episodes[2:], 0)
    while not monitor.stats.is_failing:
        await asyncio.sleep(0.001)
    assert not await monitor.flush(0.1)
    print(monitor.stats.last_error, monitor.stats.counts.stored)
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert await monitor.flush()
    await monitor.finalize()
    assert monitor.stats.counts.stored == 4, monitor.stats
asyncio.run(main())
"""


@pytest.mark.parametrize("compress", ["", "gz", "zst"])
def test_a_disk_without_room_within_a_record(tmp_path: Path, compress: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), compress], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "writing records: OSError: [Errno 27] File too large 2"
    (path,) = (tmp_path / "rollouts").rglob("traces*")
    episodes = [synthetic_episode(number, num_nodes=10, tokens_per_node=400) for number in range(4)]
    assert read_lines(path) == [episode.to_json() for episode in episodes]


EXIT = """
import asyncio, sys
from encoder.synthetic import synthetic_episode
from uploader.monitors import FileMonitor, log, setup

async def main():
    setup(FileMonitor(sys.argv[1]))
    for number in range(20):
        await log(synthetic_episode(number, num_nodes=2, tokens_per_node=200), 0)
        await log({"loss": number}, 0)
asyncio.run(main())
"""


def test_an_exit_without_an_end_writes_everything(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXIT, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    monitor = FileMonitor(tmp_path)
    assert len(traces(monitor, Where(0))) == 20
    assert [row["loss"] for row in metrics(monitor)] == list(range(20))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_child_leaves_what_was_logged_to_its_parent(tmp_path: Path) -> None:
    parent = FileMonitor(tmp_path / "parent")
    child_folder = tmp_path / "child"
    gated = Gated()

    async def before() -> None:
        await parent.log([chat(0), gated, chat(1)], 0)
        await parent.log({"loss": 0.5}, 0)

    asyncio.run(before())
    assert gated.begun.wait(30)

    def child() -> None:
        assert parent.stats.counts == Counts()
        parent._settings.__dict__["root"] = child_folder  # its parent has the other one

        async def use() -> None:
            parent.after_fork()
            await parent.log(chat(2), 0)
            assert await parent.flush()
            await parent.finalize()

        asyncio.run(use())

    in_child(child)
    gated.go_on.set()
    asyncio.run(parent.finalize())
    assert read_lines(folder_of(child_folder, Where(0)) / "traces.jsonl") == [chat(2).to_json()]
    assert traces(parent, Where(0)) == [chat(0).to_json(), b"{}", chat(1).to_json()]
    assert len(metrics(parent)) == 1


@pytest.mark.parametrize("at_once", [False, True])
def test_no_thread_to_be_had_is_tried_again(at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("uploader.worker.starting._AT_ONCE", at_once)
    monitor = FileMonitor(tmp_path)

    async def use() -> None:
        with monkeypatch.context() as context:
            context.setattr(threading.Thread, "start", refuse)
            context.setattr(_thread, "start_new_thread", refuse)
            await monitor.log(chat(0), 0)
            await monitor.log({"loss": 0.0}, 0)
        await monitor.log(chat(1), 0)
        await monitor.log({"loss": 1.0}, 0)
        await monitor.finalize()

    asyncio.run(use())
    assert traces(monitor, Where(0)) == [chat(0).to_json(), chat(1).to_json()]
    assert [row["loss"] for row in metrics(monitor)] == [0.0, 1.0]
