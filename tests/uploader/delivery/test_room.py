"""Where memory is all there is and full, a sink that fails holds back no other."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.uploader.delivery.support import Delivery, ScriptedSink, lines
from tests.uploader.worker.doubles import TIMEOUT_S, until
from uploader.delivery import health
from uploader.errors import TransportError, UnauthorizedError
from uploader.models import LineFormat
from uploader.sinks.files import FileSink
from uploader.spool.folder import DiskFolder
from uploader.spool.room import SpoolLimits
from uploader.worker.events import Dropped
from uploader.worker.worker import UploadWorker

DOWN = TransportError("refused")


def names(delivery: Delivery) -> list[str]:
    return [event[0] for event in delivery.listener.events if event[0] in ("dropped", "rejected")]


def settled(delivery: Delivery) -> None:
    """Wait until the sender has done what it was told."""
    done = threading.Event()
    delivery.sender._call(done.set)
    assert done.wait(TIMEOUT_S)


@pytest.fixture(autouse=True)
def down_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "DOWN", 1)


@pytest.mark.parametrize("failure", [DOWN, UnauthorizedError("key", status_code=401)], ids=["down", "stopped"])
def test_what_only_a_failing_sink_lacks_is_given_up_one_by_one(failure: Exception) -> None:
    dead, live = ScriptedSink(name="dead", always=failure), ScriptedSink(name="live")
    with Delivery(dead, live) as delivery:
        for number in range(3):
            delivery.offer(lines(2, 10 * number))
        delivery.sender.start("run")
        until(lambda: len(live.stored) == 3 and _is_failing(delivery, "dead"))
        for left in (2, 1, 0, 0):
            delivery.sender.make_room()
            settled(delivery)
            assert len(delivery.folder.waiting()) == left
        assert delivery.sender.wait_idle(TIMEOUT_S)
        assert names(delivery) == ["dropped"] * 3
        lost, kept = delivery.sender.stats()
        assert (lost.dropped_records, lost.stored_records, lost.waiting_batches) == (6, 0, 0)
        assert (kept.dropped_records, kept.stored_records) == (0, 6)


def _is_failing(delivery: Delivery, sink: str) -> bool:
    stats = {each.name: each for each in delivery.sender.stats()}[sink]
    return bool(stats.retries or stats.stopped_reason)


def test_nothing_is_given_up_that_no_sink_has() -> None:
    with Delivery(ScriptedSink(name="a", always=DOWN), ScriptedSink(name="b", always=DOWN)) as delivery:
        delivery.offer(lines(1))
        delivery.sender.start("run")
        until(lambda: _is_failing(delivery, "a") and _is_failing(delivery, "b"))
        delivery.sender.make_room()
        settled(delivery)
        assert len(delivery.folder.waiting()) == 1
    assert names(delivery) == []


def test_nothing_is_given_up_for_one_that_is_merely_slow() -> None:
    gate = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def wait() -> None:
        loops.append(asyncio.get_running_loop())
        await gate.wait()

    slow, live = ScriptedSink([lambda _: wait()], name="slow"), ScriptedSink(name="live")
    with Delivery(slow, live) as delivery:
        delivery.offer(lines(1))
        delivery.sender.start("run")
        until(lambda: live.stored and slow.batches)
        delivery.sender.make_room()
        settled(delivery)
        assert len(delivery.folder.waiting()) == 1
        loops[0].call_soon_threadsafe(gate.set)
        assert delivery.sender.wait_idle(TIMEOUT_S)
        assert len(slow.stored) == 1


def test_one_that_never_answers_is_failing_and_its_request_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "SILENT_S", 0.0)
    cancelled = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    silent, live = ScriptedSink([lambda _: hang()], name="silent"), ScriptedSink(name="live")
    with Delivery(silent, live) as delivery:
        delivery.offer(lines(1))
        delivery.sender.start("run")
        until(lambda: live.stored and silent.batches)
        delivery.sender.make_room()
        assert cancelled.wait(TIMEOUT_S)
        assert delivery.sender.wait_idle(TIMEOUT_S)
        settled(delivery)
        assert delivery.sender._lanes["silent"]._queue.num_waiting == 0  # it does not wait again
        assert delivery.sender.stats()[0].dropped_records == delivery.sender.stats()[0].total_records == 1
    assert names(delivery) == ["dropped"]
    assert silent.stored == []


def test_what_a_disk_keeps_is_kept(tmp_path: Path) -> None:
    dead, live = ScriptedSink(name="dead", always=DOWN), ScriptedSink(name="live")
    delivery = Delivery(dead, live)
    folder = DiskFolder.open(tmp_path, "run", [dead.destination, live.destination])
    delivery.folder = folder  # type: ignore[assignment]
    with delivery:
        delivery.offer(lines(1))
        delivery.sender.start("run")
        until(lambda: live.stored and _is_failing(delivery, "dead"))
        delivery.sender.make_room()
        settled(delivery)
        assert len(folder.waiting()) == 1
    folder.close()


@pytest.mark.parametrize("spool", ["none", "full"])
def test_a_worker_goes_on_with_the_others(spool: str, tmp_path: Path) -> None:
    """Without a spool, or with one that is full, each record reaches the live sink; the counts say the rest."""
    dead = ScriptedSink(name="dead", always=DOWN)
    events: list[Any] = []
    worker = UploadWorker(
        [dead, FileSink(tmp_path / "out", name="live")],
        run_id="run",
        spool=None if spool == "none" else tmp_path / "spool",
        spool_limits=SpoolLimits(max_spool_bytes=1),
        max_in_flight=2,
        on_event=events.append,
    )
    for number in range(12):
        assert worker.submit([b'{"n":%d}' % number], LineFormat.TRACE)
        until(_has(worker, number + 1))  # so that each is a batch
    counts = worker.stats.counts
    assert (counts.total, counts.stored) == (12, 0)
    assert counts.dropped >= 9  # two batches fit into memory
    report = worker.close(0.5)
    lost, kept = report.stats.sinks
    assert (lost.stored_records, kept.stored_records, kept.dropped_records) == (0, 12, 0)
    assert report.stats.counts.dropped == 12
    assert list(report.stats.counts.dropped_reasons) == [
        "there was no room to keep it for dead",
        "there was no time left at the end",
    ]
    assert sum(event.records for event in events if isinstance(event, Dropped)) == 12


def _has(worker: UploadWorker, records: int) -> Callable[[], Any]:
    return lambda: worker.stats.sinks[1].stored_records == records
