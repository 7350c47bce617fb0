"""Each record is in one state of each sink, at every moment."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.uploader.delivery.support import FOREVER_S, Delivery, ScriptedSink, lines, refusing, sealed
from tests.uploader.worker.doubles import TIMEOUT_S, until
from uploader.delivery.parcels import Parcel
from uploader.delivery.stats import SinkStats, Tally
from uploader.errors import DamagedBatchError, RetryableAPIError, TransportError, UnauthorizedError
from uploader.models import LineFormat
from uploader.spool.memory import MemoryFolder
from uploader.testing import fake_time

MOVES = ("start", "stop", "store", "reject", "drop", "divide")


def parcel_of(folder: MemoryFolder, records: int, number: int = 0, resumed: bool = False) -> Parcel:
    spooled = folder.add(LineFormat.TRACE, sealed(lines(records, number)))
    return Parcel(folder, spooled, (number,), None, {"test"}, resumed=resumed)  # type: ignore[arg-type]


def new_folder() -> MemoryFolder:
    return MemoryFolder("run", [], max_batches=10_000)


@given(st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 5)), max_size=30))
def test_the_states_add_up_whatever_is_reported(moves: list[tuple[str, int]]) -> None:
    folder, tally = new_folder(), Tally()
    parcels = [parcel_of(folder, 4, 10 * number, resumed=number == 3) for number in range(4)]
    for parcel in parcels:
        tally.expect(parcel)
    for move, which in moves:
        parcel = parcels[which % len(parcels)]
        if move == "divide":
            half = lines(parcel.num_records // 2)
            if not half:
                continue
            parts = parcel.parts([folder.add(LineFormat.TRACE, sealed(half)) for _ in range(2)])
            tally.divide(parcel, parts)
            parcels += parts
        else:
            getattr(tally, move)(parcel)
        stats = SinkStats(name="test", **tally.figures())  # type: ignore[arg-type]
        assert stats.total_records == 12
        assert min(tally.figures().values()) >= 0
        assert (stats.waiting_batches > 0) >= (stats.waiting_records > 0)


def test_what_each_number_is() -> None:
    folder, tally = new_folder(), Tally()
    waiting, sent, stored, rejected, dropped = (parcel_of(folder, number, 10 * number) for number in range(1, 6))
    for parcel in (waiting, sent, stored, rejected, dropped):
        tally.expect(parcel)
    for parcel in (sent, stored, rejected):
        tally.start(parcel)
    for _ in range(2):  # reported twice it is counted once
        tally.store(stored)
        tally.reject(rejected)
        tally.drop(dropped)
    tally.stop(stored)
    old = [parcel_of(folder, 3, 100 + 10 * number, resumed=True) for number in range(3)]
    for parcel in old:
        tally.expect(parcel)
    tally.start(old[0])
    tally.store(old[0])
    tally.start(old[1])
    tally.retries += 1
    assert tally.figures() == {
        "waiting_batches": 2,
        "waiting_records": 1,
        "in_flight_batches": 2,
        "in_flight_records": 2,
        "stored_batches": 1,
        "stored_records": 3,
        "rejected_records": 4,
        "dropped_records": 5,
        "resumed_batches": 1,
        "resumed_records": 3,
        "sent_bytes": stored.size + old[0].size,
        "retries": 1,
        "refusals": 0,
    }


def test_they_add_up_at_every_moment_of_a_delivery() -> None:
    """One sink refuses a record of each batch, one fails now and then, one is stopped soon."""
    failures: list[Any] = [TransportError("reset"), None, RetryableAPIError("full", status_code=429), None, None]
    picky = ScriptedSink(name="picky", always=refusing(*lines(200)[::10]))
    shaky = ScriptedSink(failures * 20, name="shaky")
    dead = ScriptedSink(
        [None, None, UnauthorizedError("key", status_code=401)], name="dead", always=TransportError("x")
    )
    with fake_time(), Delivery(picky, shaky, dead) as delivery:
        delivery.sender.start("run")
        for number in range(20):
            delivery.offer(lines(10, 10 * number))
            for _ in range(20):
                assert [sink.total_records for sink in delivery.sender.stats()] == [10 * number + 10] * 3
        while not delivery.sender.wait_idle(0.0):
            assert [sink.total_records for sink in delivery.sender.stats()] == [200] * 3
        stats = {sink.name: sink for sink in delivery.sender.stats()}
        first, second, third = (stats[name] for name in ("picky", "shaky", "dead"))
        assert (first.stored_records, first.rejected_records, first.waiting_batches) == (180, 20, 0)
        assert (second.stored_records, second.waiting_records, second.in_flight_records) == (200, 0, 0)
        assert third.waiting_records == 200 - third.stored_records > 0


def test_what_is_in_flight_is_said() -> None:
    loops: list[asyncio.AbstractEventLoop] = []
    gate = asyncio.Event()

    async def wait() -> None:
        loops.append(asyncio.get_running_loop())
        await gate.wait()

    sink = ScriptedSink(always=lambda _: wait())
    with Delivery(sink, max_in_flight=1) as delivery:
        for number in range(3):
            delivery.offer(lines(5, 5 * number))
        [stats] = delivery.sender.stats()
        assert (stats.waiting_batches, stats.waiting_records) == (3, 15)  # before the sender runs
        delivery.sender.start("run")
        until(lambda: sink.batches)
        [stats] = delivery.sender.stats()
        assert (stats.in_flight_batches, stats.in_flight_records) == (1, 5)
        assert (stats.waiting_batches, stats.waiting_records) == (2, 10)
        loops[0].call_soon_threadsafe(gate.set)
        assert delivery.sender.wait_idle(FOREVER_S)
        [stats] = delivery.sender.stats()
        assert (stats.in_flight_records, stats.waiting_records, stats.stored_records) == (0, 0, 15)


@pytest.mark.parametrize("answer", [None, TransportError("reset")], ids=["stored", "failed"])
def test_a_damaged_batch_is_rejected_for_all_that_lack_it(
    answer: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loops: list[asyncio.AbstractEventLoop] = []
    gate = asyncio.Event()

    async def wait() -> Exception | None:
        loops.append(asyncio.get_running_loop())
        await gate.wait()
        return answer

    one, other, down = (ScriptedSink(name=name, always=lambda _: wait()) for name in ("one", "other", "down"))
    down.starts.append(TransportError("refused"))
    with Delivery(one, other, down) as delivery:
        load, loads = delivery.folder.load, iter(range(10))
        found = threading.Event()

        def damaged(spooled: Any) -> Any:
            if next(loads) == 0:
                return load(spooled)
            until(lambda: one.batches or other.batches)
            found.set()
            raise DamagedBatchError("file", "its hash differs", 7)

        monkeypatch.setattr(delivery.folder, "load", damaged)
        delivery.offer(lines(7))
        delivery.sender.start("run")
        assert found.wait(TIMEOUT_S)
        until(lambda: any(sink.rejected_records for sink in delivery.sender.stats()))
        until(lambda: loops)
        loops[0].call_soon_threadsafe(gate.set)
        until(lambda: not any(sink.in_flight_records for sink in delivery.sender.stats()))
        assert [sink.total_records for sink in delivery.sender.stats()] == [7] * 3
        assert sum(sink.rejected_records for sink in delivery.sender.stats()) == (14 if answer is None else 21)
        assert not any(sink.waiting_records for sink in delivery.sender.stats())
