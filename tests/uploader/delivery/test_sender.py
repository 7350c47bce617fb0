import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.naming import stable_id
from tests.uploader.delivery.support import FOREVER_S, Delivery, ScriptedSink, lines, sealed
from uploader.delivery.sender import Sender
from uploader.errors import (
    DamagedBatchError,
    ForbiddenError,
    LineFormatConflictError,
    MissingAPIKeyError,
    RetryableAPIError,
    SpoolError,
    TransportError,
    UnauthorizedError,
)
from uploader.testing import FakeClock, fake_time


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    with fake_time() as clock:
        yield clock


def busy(retry_after: float | None = None) -> RetryableAPIError:
    return RetryableAPIError("full", status_code=429, code="rate_limited", retry_after=retry_after)


def hang(_: Any) -> Any:
    return asyncio.Event().wait()


def test_batches_are_stored_in_order_and_leave_the_folder() -> None:
    sink = ScriptedSink()
    with Delivery(sink, max_in_flight=1) as delivery:
        for number in range(20):
            delivery.offer(lines(1, number))
        delivery.deliver()
        assert sink.stored == lines(20)
        assert delivery.folder.waiting() == []
        assert delivery.listener.kinds() == ["started", "stored"] * 20
        [stats] = delivery.sender.stats()
        assert (stats.stored_batches, stats.stored_records, stats.waiting_batches, stats.in_flight_batches) == (
            (20, 20, 0, 0)
        )
    assert sink.runs == ["run"]
    assert sink.closed


def test_batches_that_are_offered_before_and_after_the_start_are_sent() -> None:
    sink = ScriptedSink()
    with Delivery(sink) as delivery:
        delivery.offer(lines(1))
        delivery.deliver()
        delivery.offer(lines(1, 1))
        assert delivery.sender.wait_idle(FOREVER_S)
        assert len(sink.stored) == 2


def test_a_thread_that_cannot_be_had_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sink = ScriptedSink()
    with Delivery(sink) as delivery:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", no_thread)
            with pytest.raises(RuntimeError):
                delivery.sender.start("run")
        delivery.offer(lines(1))
        delivery.deliver()
        assert sink.stored == lines(1)


def test_no_more_than_the_most_requests_are_under_way() -> None:
    sink = ScriptedSink(always=lambda _: asyncio.sleep(0.001))
    with Delivery(sink, max_in_flight=3) as delivery:
        for number in range(40):
            delivery.offer(lines(1, number))
        delivery.deliver()
        assert sink.most_at_once == 3


def test_a_refusal_is_waited_out_and_the_batch_goes_first(clock: FakeClock) -> None:
    sink = ScriptedSink([busy(10.0)])
    with Delivery(sink, max_in_flight=1) as delivery:
        for number in range(3):
            delivery.offer(lines(1, number))
        delivery.deliver()
        assert sink.stored == lines(3)
        assert delivery.listener.delays_s == [11.25]
        assert max(clock.sleeps) == pytest.approx(11.25)
        [stats] = delivery.sender.stats()
        assert (stats.refusals, stats.retries, stats.rejected_records) == (1, 0, 0)


@pytest.mark.parametrize(
    "error",
    [busy(), RetryableAPIError("down", status_code=503), TransportError("refused"), OSError("no route")],
    ids=stable_id,
)
def test_an_outage_of_any_length_loses_nothing(clock: FakeClock, error: Exception) -> None:
    sink = ScriptedSink([error] * 300)
    with Delivery(sink) as delivery:
        for number in range(10):
            delivery.offer(lines(1, number))
        delivery.deliver()
        assert sorted(sink.stored) == sorted(lines(10))
        assert len(sink.batches) == 310
        assert delivery.listener.pauses == [error]
        assert delivery.listener.rejections == []
    assert sum(clock.sleeps) > 600


def test_a_batch_that_the_service_chokes_on_holds_up_no_other(clock: FakeClock) -> None:
    failures = iter(range(10))

    def choke(batch: Any) -> Exception | None:
        if batch.sealed.batch.digest == bad and next(failures, None) is not None:
            return RetryableAPIError("failed", status_code=500)
        return None

    sink = ScriptedSink(always=choke)
    with Delivery(sink, max_in_flight=1) as delivery:
        bad = delivery.offer(lines(1)).batch.digest
        for number in range(1, 10):
            delivery.offer(lines(1, number))
        delivery.deliver()
        assert sink.stored == [*lines(9, 1), *lines(1)]


@pytest.mark.parametrize("error", [UnauthorizedError("no", status_code=401), ForbiddenError("no", status_code=403)])
def test_an_error_of_credentials_stops_the_sink_and_keeps_the_batches(error: Exception) -> None:
    sink = ScriptedSink([error])
    with Delivery(sink, max_in_flight=1) as delivery:
        for number in range(3):
            delivery.offer(lines(1, number))
        delivery.deliver()
        delivery.offer(lines(1, 3))
        assert delivery.sender.wait_idle(FOREVER_S)
        assert (len(sink.batches), delivery.listener.stops) == (1, [error])
        assert len(delivery.folder.waiting()) == 4
        [stats] = delivery.sender.stats()
        assert stats.stopped_reason == str(error)


def test_a_sink_that_cannot_start_is_tried_again(clock: FakeClock) -> None:
    sink = ScriptedSink()
    sink.starts.extend([TransportError("down"), TransportError("down")])
    with Delivery(sink) as delivery:
        delivery.offer(lines(1))
        delivery.deliver()
        assert len(sink.runs) == 3
        assert sink.stored == lines(1)


def test_a_sink_without_a_key_is_stopped() -> None:
    sink = ScriptedSink()
    sink.starts.append(MissingAPIKeyError())
    with Delivery(sink) as delivery:
        delivery.offer(lines(1))
        delivery.deliver()
        assert sink.batches == []
        assert len(delivery.listener.stops) == 1


def test_a_refusal_of_the_request_sets_the_batch_aside_and_nothing_else() -> None:
    error = LineFormatConflictError("another format", status_code=409)
    sink = ScriptedSink([None, error])
    with Delivery(sink, max_in_flight=1) as delivery:
        for number in range(3):
            delivery.offer(lines(5, number * 5))
        delivery.deliver()
        [(spooled, told)] = delivery.listener.rejections
        assert (spooled.batch.num_lines, told) == (5, error)
        assert len(sink.stored) == 2
        assert delivery.folder.waiting() == []
        [stats] = delivery.sender.stats()
        assert (stats.stored_records, stats.rejected_records) == (10, 5)


def test_a_damaged_batch_is_counted_and_the_next_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = ScriptedSink()
    with Delivery(sink, max_in_flight=1) as delivery:
        damaged = delivery.offer(lines(7))
        delivery.offer(lines(1, 7))
        load = delivery.folder.load

        def damaging(spooled: Any) -> Any:
            if spooled is damaged:
                delivery.folder.set_aside(spooled, "damaged")
                raise DamagedBatchError("file", "its hash differs", 7)
            return load(spooled)

        monkeypatch.setattr(delivery.folder, "load", damaging)
        delivery.deliver()
        assert sink.stored == lines(1, 7)
        assert [spooled for spooled, _ in delivery.listener.rejections] == [damaged]
        assert delivery.sender.stats()[0].rejected_records == 7


def test_a_disk_that_does_not_read_puts_off_that_batch_alone(clock: FakeClock, monkeypatch: Any) -> None:
    sink = ScriptedSink()
    with Delivery(sink, max_in_flight=1) as delivery:
        delivery.offer(lines(1))
        delivery.offer(lines(1, 1))
        load, errors = delivery.folder.load, iter([SpoolError("file", "input/output error")])

        def failing(spooled: Any) -> Any:
            if (error := next(errors, None)) is not None:
                raise error
            return load(spooled)

        monkeypatch.setattr(delivery.folder, "load", failing)
        delivery.deliver()
        assert sink.stored == [*lines(1, 1), *lines(1)]
        assert delivery.sender.stats()[0].retries == 0


def test_a_receipt_that_cannot_be_noted_counts_as_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> bool:
        raise SpoolError("file", "read-only")

    sink = ScriptedSink()
    with Delivery(sink) as delivery:
        monkeypatch.setattr(delivery.folder, "acknowledge", failing)
        delivery.offer(lines(1))
        delivery.deliver()
        assert delivery.listener.events[-1] == ("stored", 1, "test", True)


def test_a_batch_is_waited_for_until_it_has_left_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go = threading.Event(), threading.Event()

    with Delivery(ScriptedSink()) as delivery:
        acknowledge = delivery.folder.acknowledge

        def slow(*args: Any) -> bool:
            reached.set()
            assert go.wait(30)
            return acknowledge(*args)

        monkeypatch.setattr(delivery.folder, "acknowledge", slow)
        delivery.offer(lines(1))
        delivery.sender.start("run")
        assert reached.wait(30)
        assert delivery.sender.waiting() == 1
        assert not delivery.sender.wait_idle(0.0)
        go.set()
        assert delivery.sender.wait_idle(FOREVER_S)
        assert delivery.folder.waiting() == []


def test_a_listener_that_fails_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise ZeroDivisionError

    sink = ScriptedSink()
    with Delivery(sink) as delivery:
        monkeypatch.setattr(delivery.listener, "started", failing)
        monkeypatch.setattr(delivery.listener, "stored", failing)
        delivery.offer(lines(1))
        delivery.deliver()
        assert sink.stored == lines(1)
        assert delivery.sender.num_escapes == 2


def test_an_attempt_that_dies_of_anything_leaves_its_batch_waiting() -> None:
    class DeathError(BaseException):
        pass

    def die(_: Any) -> Any:
        raise DeathError

    sink = ScriptedSink([die])
    with Delivery(sink) as delivery:
        delivery.offer(lines(1))
        delivery.deliver()
        assert sink.stored == lines(1)
        assert delivery.sender.num_escapes == 1


def test_a_loop_that_dies_starts_again_and_sends_what_was_under_way() -> None:
    def die(_: Any) -> Any:
        loop = asyncio.get_running_loop()
        loop.call_soon(exit_now)
        return asyncio.Event().wait()

    def exit_now() -> None:
        raise SystemExit

    sink = ScriptedSink([None, die])
    with Delivery(sink) as delivery:
        for number in range(4):
            delivery.offer(lines(1, number))
        delivery.deliver()
        assert sorted(sink.stored) == lines(4)
        assert sink.runs == ["run", "run"]
        assert delivery.sender.num_escapes == 1


def test_wait_idle_says_when_the_time_was_too_short() -> None:
    with Delivery(ScriptedSink([hang])) as delivery:
        delivery.offer(lines(1))
        delivery.sender.start("run")
        assert not delivery.sender.wait_idle(0.05)
        assert delivery.sender.waiting() == 1
        delivery.sender.stop(0.0)


def test_what_never_answers_is_given_up_when_the_sender_stops() -> None:
    sink = ScriptedSink(always=hang)
    delivery = Delivery(sink)
    for number in range(5):
        delivery.offer(lines(1, number))
    delivery.sender.start("run")
    while delivery.listener.kinds().count("started") < 2:
        time.sleep(0.001)
    delivery.sender.stop(0.0)
    assert delivery.sender.stop(30)
    assert delivery.listener.kinds() == ["started", "started", "returned", "returned"]
    assert len(delivery.folder.waiting()) == 5
    assert sink.closed


def test_a_receipt_that_comes_while_the_sender_stops_counts() -> None:
    stopping = threading.Event()

    async def late() -> None:
        while not stopping.is_set():
            await asyncio.sleep(0.001)

    delivery = Delivery(ScriptedSink([lambda _: late()]))
    delivery.offer(lines(1))
    delivery.sender.start("run")
    while not delivery.listener.events:
        time.sleep(0.001)
    threading.Timer(0.05, stopping.set).start()
    assert delivery.sender.stop(30)
    assert delivery.listener.kinds() == ["started", "stored"]
    assert delivery.folder.waiting() == []


def test_stop_returns_in_time_from_a_sink_that_blocks_the_thread() -> None:
    release = threading.Event()

    def block(_: Any) -> None:
        release.wait(30)

    delivery = Delivery(ScriptedSink([block]))
    delivery.offer(lines(1))
    delivery.sender.start("run")
    while not delivery.listener.events:
        time.sleep(0.001)
    assert not delivery.sender.stop(0.05)
    release.set()


def test_a_stopped_sender_takes_nothing_more() -> None:
    delivery = Delivery(ScriptedSink())
    spooled = delivery.folder.add("trace", sealed(lines(1)))  # type: ignore[arg-type]
    before = threading.enumerate()
    assert delivery.sender.stop(1.0)
    assert not delivery.sender.offer(delivery.folder, spooled)
    delivery.sender.start("run")
    assert set(threading.enumerate()) <= set(before)


def test_a_batch_for_another_destination_is_not_taken() -> None:
    other = Delivery(ScriptedSink(name="other"))
    spooled = other.folder.add("trace", sealed(lines(1)))  # type: ignore[arg-type]
    with Delivery(ScriptedSink()) as delivery:
        assert not delivery.sender.offer(other.folder, spooled)
        assert delivery.sender.waiting() == 0


def test_batches_of_earlier_runs_go_last_and_are_counted_apart() -> None:
    sink = ScriptedSink()
    with Delivery(sink, max_in_flight=1) as delivery:
        left = delivery.folder.add("trace", sealed(lines(3)))  # type: ignore[arg-type]
        assert delivery.sender.offer(delivery.folder, left, resumed=True)
        delivery.offer(lines(1, 3))
        assert delivery.sender.waiting() == 1
        delivery.deliver()
        while delivery.folder.waiting():
            time.sleep(0.001)
        assert sink.stored == [*lines(1, 3), b"".join(lines(3))]
    [stats] = delivery.sender.stats()
    assert (stats.stored_records, stats.resumed_batches, stats.resumed_records) == (1, 1, 3)


def test_hurry_ends_a_back_off() -> None:
    sink = ScriptedSink([TransportError("down")])
    with fake_time(SlowClock()), Delivery(sink) as delivery:
        delivery.offer(lines(1))
        delivery.sender.start("run")
        while not delivery.listener.delays_s:
            time.sleep(0.001)
        delivery.sender.hurry()
        assert delivery.sender.wait_idle(FOREVER_S)


class SlowClock(FakeClock):
    """Nobody's sleep ends by itself."""

    async def asleep(self, delay_s: float, stop: asyncio.Event) -> None:
        await stop.wait()


def test_a_forked_sender_starts_empty_and_can_send() -> None:
    script = """
import asyncio, os, sys, time, warnings
from tests.uploader.delivery.support import FOREVER_S, Delivery, ScriptedSink, lines

warnings.simplefilter("ignore", DeprecationWarning)
sink = ScriptedSink([lambda _: asyncio.sleep(0.2)])
delivery = Delivery(sink, max_in_flight=1)
delivery.offer(lines(1))
delivery.sender.start("run")
while not delivery.listener.events:
    time.sleep(0.001)
if child := os.fork():
    _, status = os.waitpid(child, 0)
    assert delivery.sender.wait_idle(FOREVER_S)
    assert delivery.sender.stop(FOREVER_S)
    print("parent", os.waitstatus_to_exitcode(status), sink.stored)
else:
    delivery.sender.abandon_after_fork()
    delivery.listener.under_way.clear()
    sink.batches.clear()
    assert delivery.sender.waiting() == 0
    delivery.offer(lines(1, 1))
    delivery.deliver()
    assert delivery.sender.stop(FOREVER_S)
    print("child", len(sink.batches), sink.stored, flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [f"child 1 {lines(1, 1)}", f"parent 0 {lines(1)}"]
    assert done.stderr == ""


def test_the_interpreter_exits_at_once_whatever_hangs() -> None:
    script = """
import asyncio, threading, time
from tests.uploader.delivery.support import Delivery, ScriptedSink, lines

class Folder:
    def load(self, spooled):
        time.sleep(600)

delivery = Delivery(ScriptedSink(always=lambda _: asyncio.Event().wait()))
for number in range(5):
    delivery.offer(lines(1, number))
delivery.sender.start("run")
spooled = delivery.folder.waiting()[0]
delivery.sender.offer(Folder(), spooled)
while len(delivery.listener.under_way) < 2:
    time.sleep(0.001)
print("ends")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "ends\n"
    assert done.stderr == ""


def test_sinks_have_queues_of_their_own() -> None:
    stuck, quick = ScriptedSink(always=hang, name="stuck"), ScriptedSink(name="quick")
    delivery = Delivery(stuck, quick)
    for number in range(5):
        delivery.offer(lines(1, number))
    delivery.sender.start("run")
    while [spooled.waiting_for for spooled in delivery.folder.waiting()] != [(stuck.destination,)] * 5:
        time.sleep(0.001)
    delivery.sender.stop(0.0)
    assert delivery.sender.stop(30)
    assert len(quick.stored) == 5
    assert ("stored", 1, "quick", False) in delivery.listener.events


def test_a_batch_that_one_sink_refuses_still_reaches_the_others() -> None:
    error = LineFormatConflictError("another format", status_code=409)
    first, second = ScriptedSink([error], name="first"), ScriptedSink([busy()], name="second")
    with fake_time(), Delivery(first, second) as delivery:
        delivery.offer(lines(2))
        delivery.deliver()
        assert second.stored == [b"".join(lines(2))]
        assert [told for _, told in delivery.listener.rejections] == [error]
        assert delivery.listener.events[-2:] == [("stored", 1, "second", False), ("rejected", 1, "first")]
        assert delivery.folder.waiting() == []


def test_a_sender_with_no_sink_has_nothing_to_wait_for() -> None:
    with Delivery() as delivery:
        delivery.sender.start("run")
        assert delivery.sender.wait_idle(FOREVER_S)
    assert isinstance(delivery.sender, Sender)
