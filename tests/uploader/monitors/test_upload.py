"""What is logged goes to a run: given, or opened in the background."""

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import uploader
from tests.uploader.monitors.doubles import chat
from tests.uploader.runs.support import FakeWorker, rows_of
from uploader.errors import ConfigurationError, RunError, UploaderError
from uploader.models import LineFormat
from uploader.monitors import MonitorGroup, UploadMonitor, opening, upload
from uploader.runs import Run


def new_run(tmp_path: Path, **arguments: Any) -> Run:
    return uploader.init(api_key="key", spool=tmp_path / "spool", id="r", lifecycle="local", **arguments)


def metrics_of(tmp_path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "_timestamp"} for row in rows_of(tmp_path / "spool", "r")]


async def test_records_and_metrics_go_to_a_run(worker: FakeWorker, tmp_path: Path) -> None:
    run = new_run(tmp_path, kind="train")
    monitor = UploadMonitor(run)
    await monitor.log([chat(1), chat(2)], 3)
    await monitor.log(chat(3), 4, kind="eval")
    await monitor.log([chat(4), chat(5).traces[0]], 5)
    await monitor.log({"loss": 0.5}, 3)
    await monitor.log({"reward": 0.5}, 3, kind="eval")
    await monitor.log({"reward": 0.25}, 3, subset="effective")
    await monitor.log({"nothing": float("nan")}, 3)
    assert await monitor.flush()
    ids = [([record.id for record in records], line_format) for records, line_format in worker.submitted]
    assert ids[:3] == [(["e1", "e2"], LineFormat.EPISODE), (["e3"], LineFormat.EPISODE), (["e4"], LineFormat.EPISODE)]
    assert ids[3][1] is LineFormat.TRACE
    works = [records[0].run.work for records, _ in worker.submitted]
    assert [(work.type, work.step) for work in works] == [("train", 3), ("eval", 4), ("train", 5), ("train", 5)]
    assert metrics_of(tmp_path) == [
        {"loss": 0.5, "step": 3},
        {"eval/reward": 0.5, "step": 3},
        {"effective/reward": 0.25, "step": 3},
    ]
    assert (monitor.stats.metrics, monitor.stats.records, monitor.stats.run_id) == (3, 5, "r")
    await monitor.finalize()
    assert monitor.report is not None
    assert str(run.status) == "completed"


@pytest.mark.parametrize(("subset", "expected"), [("all", "e1"), ("effective", "e2")])
async def test_records_of_one_subset_are_uploaded(
    worker: FakeWorker, tmp_path: Path, subset: Any, expected: str
) -> None:
    monitor = UploadMonitor(new_run(tmp_path, kind="train"), subset=subset)
    await monitor.log(chat(1), 0)
    await monitor.log(chat(2), 0, subset="effective")
    assert [records[0].id for records, _ in worker.submitted] == [expected]
    assert monitor.stats.records == 1
    await monitor.finalize()


async def test_logging_to_an_open_run_is_done_at_once_and_here(worker: FakeWorker, tmp_path: Path) -> None:
    monitor = UploadMonitor(new_run(tmp_path, kind="train"))
    with pytest.raises(StopIteration):
        monitor.log(chat(), 0).send(None)  # it never gave way
    assert len(worker.submitted) == 1
    await monitor.finalize()


class Gate:
    """Opens a run once it is told to."""

    def __init__(self, open_run: Callable[[], Run]) -> None:
        self.open_run = open_run
        self.asked, self.open = threading.Event(), threading.Event()
        self.arguments: dict[str, Any] = {}

    def __call__(self, **arguments: Any) -> Run:
        self.arguments = arguments
        self.asked.set()
        assert self.open.wait(30)
        return self.open_run()


async def opened(gate: Gate, monitor: UploadMonitor) -> None:
    """Let the run be opened, so that no thread does so in the next test."""
    gate.open.set()
    while monitor.run is None:
        await asyncio.sleep(0.001)
    await monitor.run.afinish()


@pytest.fixture
def gate(worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate = Gate(lambda: new_run(tmp_path, kind="train"))
    monkeypatch.setattr(upload, "init", gate)
    return gate


async def test_a_run_is_opened_in_the_background_and_gets_all_in_order(gate: Gate, worker: FakeWorker) -> None:
    monitor = UploadMonitor(name="qwen", kind="train")
    assert monitor.run is None
    monitor.start()
    monitor.start()
    for number in range(3):
        await monitor.log(chat(number), number)
    assert (worker.submitted, monitor.run, monitor.stats.run_id) == ([], None, None)
    ending = asyncio.create_task(monitor.finalize())
    await asyncio.sleep(0.01)
    gate.open.set()
    await ending
    assert gate.arguments == {"name": "qwen", "kind": "train"}
    assert [records[0].id for records, _ in worker.submitted] == ["e0", "e1", "e2"]
    assert monitor.stats.records == 3
    await monitor.finalize()


async def test_too_much_is_not_kept_meanwhile(gate: Gate, monkeypatch: pytest.MonkeyPatch, worker: FakeWorker) -> None:
    monkeypatch.setattr(opening, "MAX_WAITING", 2)
    monitor = UploadMonitor(kind="train")
    await monitor.log([chat(1), chat(2), chat(3)], 0)  # what comes to an empty list always fits
    await monitor.log(chat(4), 0)
    gate.open.set()
    assert await monitor.flush()
    assert (monitor.stats.records, monitor.stats.dropped) == (4, 1)
    await monitor.finalize()
    assert len(worker.submitted) == 1


async def test_what_the_run_refuses_later_is_counted(
    gate: Gate, worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: Any, **options: Any) -> bool:
        raise ValueError("none of mine")

    monkeypatch.setattr(Run, "log_episodes", refuse)
    monitor = UploadMonitor(kind="train")
    await monitor.log(chat(1), 0)
    await monitor.log(chat(2), 0)
    await monitor.log(chat(3).traces[0], 0)
    gate.open.set()
    await monitor.finalize()
    assert monitor.stats.failures == 2
    assert monitor.stats.last_error == "what was logged while its run was opened: ValueError: none of mine"
    assert [record.levelno for record in caplog.records].count(logging.ERROR) == 1
    assert [line_format for _, line_format in worker.submitted] == [LineFormat.TRACE]


async def test_a_run_that_cannot_be_opened_is_said_and_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upload, "init", Gate(lambda: uploader.init(kind="test", api_key="key")))  # type: ignore[arg-type]
    monitor = UploadMonitor()
    group = MonitorGroup([monitor])
    group.start()
    await group.log(chat(1), 0)
    upload.init.open.set()  # type: ignore[attr-defined]
    await group.flush()
    await group.log([chat(2), chat(3)], 0)
    await group.finalize()
    assert (monitor.stats.records, monitor.stats.dropped) == (3, 3)
    assert "opening its run: ConfigurationError: kind" in str(monitor.stats.last_error)
    assert group.stats.failures == 3  # opening, flushing, finalizing
    with pytest.raises(UploaderError, match="could not be opened"):
        await monitor.flush()


async def test_a_run_that_does_not_open_is_waited_for_no_longer(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "_OPEN_WAIT_S", 0.01)
    monitor = UploadMonitor(kind="train")
    await monitor.log(chat(), 0)
    with pytest.raises(UploaderError, match="not open in time"):
        await monitor.finalize()
    await opened(gate, monitor)


async def test_what_was_never_used_opens_nothing(gate: Gate) -> None:
    monitor = UploadMonitor(kind="train")
    assert await monitor.flush()
    await monitor.finalize()
    assert not gate.asked.is_set()


async def test_a_failed_run_says_why(worker: FakeWorker, tmp_path: Path) -> None:
    run = new_run(tmp_path, kind="train")
    with pytest.raises(ValueError, match="broken"):
        async with UploadMonitor(run):
            raise ValueError("broken")
    assert str(run.status) == "failed"


async def test_losses_are_raised_where_they_are_to_be(worker: FakeWorker, tmp_path: Path) -> None:
    worker.count(submitted=1, dropped=1, dropped_reasons={"full": 1})
    monitor = UploadMonitor(new_run(tmp_path, kind="train", on_error="raise"))
    with pytest.raises(RunError):
        await monitor.finalize()
    assert monitor.stats.dropped == 1


def test_what_cannot_be_used_is_said(worker: FakeWorker, tmp_path: Path) -> None:
    run = new_run(tmp_path)
    with pytest.raises(ConfigurationError, match="run: it is open already, so these cannot be used: name"):
        UploadMonitor(run, name="x")
    with pytest.raises(ConfigurationError, match="subset"):
        UploadMonitor(run, subset="none")  # type: ignore[arg-type]
    run.finish()


async def test_a_forked_child_leaves_the_opening_to_its_parent(gate: Gate) -> None:
    monitor = UploadMonitor(kind="train")
    await monitor.log(chat(), 0)
    assert gate.asked.wait(30)
    opening_ = monitor._opening
    opening_._lock.acquire()  # as a fork finds it
    opening_.after_fork()
    await monitor.log(chat(), 0)
    assert monitor.stats.dropped == 1
    await opened(gate, monitor)
