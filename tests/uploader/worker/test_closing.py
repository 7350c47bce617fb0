"""The end comes within its time, whatever hangs, and says exactly what became of everything."""

import signal
import threading
from typing import Any

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, Bench, FakeDelivery, Gated, hold, until
from uploader.sealing import Sealer
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker.closing import NO_TIME
from uploader.worker.counts import Counts
from uploader.worker.events import Dropped


def test_what_a_sink_does_not_take_in_time_is_on_disk() -> None:
    def deal(delivery: FakeDelivery, folder: Folder, spooled: SpooledBatch) -> None:
        delivery.listener.started(spooled, "traces")  # and never ends

    bench = Bench(deal=deal)
    bench.worker.submit([b"{}", b"[]"])
    report = bench.worker.close(0.4)
    assert report.stats.counts == Counts(submitted=2, spooled=2)
    assert not report.is_complete
    assert bench.disk.synced == 1
    assert bench.disk.closed.is_set()
    ((folder, spooled),) = bench.delivery.offered
    bench.delivery.store(folder, spooled)  # too late to be counted
    assert bench.counts == report.stats.counts


def test_what_was_not_sealed_in_time_is_dropped_and_named(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    bench.worker.submit([b"1", b"2", gated, b"3"])
    assert gated.reached.wait(TIMEOUT_S)
    counts = bench.worker.close(0).stats.counts
    assert counts == Counts(submitted=4, dropped=4, dropped_reasons={NO_TIME: 4})
    assert bench.events == [Dropped(4, NO_TIME)]
    assert [record.getMessage() for record in caplog.records] == [f"4 records dropped: {NO_TIME}"]
    gated.gate.set()
    until(lambda: all(thread.ended.is_set() for thread in bench.worker._engine.threads))
    assert bench.counts == counts
    assert bench.disk.kept == {}  # sealed too late: not both dropped and there


def test_with_little_time_the_record_in_hand_is_finished_and_sealed() -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    bench.worker.submit([b"1", gated, b"3", b"4"])
    assert gated.reached.wait(TIMEOUT_S)
    engine = bench.worker._engine
    end = engine.intake.end

    def end_and_go_on(barrier: Any) -> None:
        end(barrier)
        gated.gate.set()

    engine.intake.end = end_and_go_on  # type: ignore[method-assign]
    counts = bench.worker.close(0.1).stats.counts
    assert counts == Counts(submitted=4, spooled=2, dropped=2, dropped_reasons={NO_TIME: 2})
    assert bench.disk.synced == 1


def test_a_batch_that_is_written_too_late_is_removed() -> None:
    bench = Bench(deal=hold)
    reached, go_on = threading.Event(), threading.Event()

    def on_add() -> None:
        reached.set()
        assert go_on.wait(TIMEOUT_S)

    bench.disk.on_add = on_add
    bench.worker.submit([b"{}"])
    assert reached.wait(TIMEOUT_S)
    counts = bench.worker.close(0).stats.counts
    assert counts == Counts(submitted=1, dropped=1, dropped_reasons={NO_TIME: 1})
    go_on.set()
    until(lambda: all(thread.ended.is_set() for thread in bench.worker._engine.threads))
    assert bench.disk.kept == {}
    assert bench.delivery.offered == []


def test_without_a_spool_what_was_not_sent_is_dropped() -> None:
    bench = Bench(spool=False, deal=hold, memory=1, new_sealer=lambda: Sealer(max_lines=1))
    bench.worker.submit([b"1", b"2", b"3"])
    until(lambda: bench.delivery.offered)
    counts = bench.worker.close(0.1).stats.counts
    assert counts == Counts(submitted=3, dropped=3, dropped_reasons={NO_TIME: 3})


def test_a_flush_that_the_end_cuts_short_fails() -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    bench.worker.submit([gated])
    assert gated.reached.wait(TIMEOUT_S)
    answers: list[bool] = []
    flusher = threading.Thread(target=lambda: answers.append(bench.worker.flush(TIMEOUT_S)))
    flusher.start()
    until(lambda: bench.worker._engine.intake._items)
    bench.worker.close(0)
    flusher.join(TIMEOUT_S)
    assert answers == [False]
    gated.gate.set()


def test_a_disk_that_hangs_does_not_hold_up_the_end() -> None:
    bench = Bench()
    go_on = threading.Event()
    bench.disk.close = lambda: go_on.wait(TIMEOUT_S)  # type: ignore[assignment, method-assign]
    bench.worker.submit([b"{}"])
    assert bench.worker.close(TIMEOUT_S).is_complete
    assert not go_on.is_set()
    go_on.set()


def test_a_second_closer_gets_the_same_report() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"{}"])
    reports: list[Any] = []
    threads = [threading.Thread(target=lambda: reports.append(bench.worker.close(0.3))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert reports == [reports[0]] * 3


def test_ctrl_c_seals_and_keeps_what_there_is() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1", b"2"])
    waits = threading.Event()

    def wait_idle(timeout_s: float) -> bool:
        waits.set()
        return threading.Event().wait(timeout_s)

    bench.worker.flush(TIMEOUT_S)
    bench.delivery.wait_idle = wait_idle  # type: ignore[method-assign]

    def interrupt() -> None:
        assert waits.wait(TIMEOUT_S)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        bench.worker.close(TIMEOUT_S)
    thread.join()
    assert bench.delivery.stopped
    assert bench.disk.closed.is_set()
    assert bench.worker.close(0).stats.counts == Counts(submitted=2, spooled=2)


def test_ctrl_c_while_a_record_is_encoded_ends_the_queue() -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    bench.worker.submit([b"1", gated, b"3"])
    assert gated.reached.wait(TIMEOUT_S)
    ended = threading.Event()
    engine = bench.worker._engine
    end = engine.intake.end

    def end_and_go_on(barrier: Any) -> None:
        end(barrier)
        ended.set()
        gated.gate.set()

    engine.intake.end = end_and_go_on  # type: ignore[method-assign]
    until(lambda: not engine.intake.is_empty)

    def interrupt() -> None:
        until(lambda: engine.intake._closed)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        bench.worker.close(TIMEOUT_S)
    thread.join()
    assert ended.is_set()
    counts = bench.worker.close(0).stats.counts
    assert counts == Counts(submitted=3, spooled=2, dropped=1, dropped_reasons={NO_TIME: 1})


def test_a_second_ctrl_c_leaves_at_once() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1"])
    bench.worker.flush(TIMEOUT_S)

    def interrupted(timeout_s: float) -> bool:
        raise KeyboardInterrupt

    bench.delivery.wait_idle = interrupted  # type: ignore[method-assign]
    bench.delivery.stop = interrupted  # type: ignore[assignment, method-assign]
    with pytest.raises(KeyboardInterrupt):
        bench.worker.close(TIMEOUT_S)
    assert not bench.disk.closed.is_set()


def test_a_worker_that_sends_nothing_keeps_everything() -> None:
    bench = Bench(new_delivery=None)
    bench.worker.submit([b"1"])
    assert bench.worker.close(TIMEOUT_S).stats.counts == Counts(submitted=1, spooled=1)


def test_a_close_can_be_hurried_from_elsewhere() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1"])
    reports: list[Any] = []
    thread = threading.Thread(target=lambda: reports.append(bench.worker.close(10 * TIMEOUT_S)))
    thread.start()
    until(lambda: bench.counts.spooled == 1)
    bench.worker.hurry()
    thread.join(TIMEOUT_S)
    assert reports[0].stats.counts == Counts(submitted=1, spooled=1)


def test_a_signal_handler_that_interrupts_a_close_may_close() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1"])
    assert bench.worker.flush(TIMEOUT_S)
    inner: list[Any] = []

    def wait_idle(timeout_s: float) -> bool:
        if not inner:  # as a handler would, in the thread that waits
            inner.append(bench.worker.close(TIMEOUT_S))
        return threading.Event().wait(timeout_s)

    bench.delivery.wait_idle = wait_idle  # type: ignore[method-assign]
    report = bench.worker.close(100 * TIMEOUT_S)
    assert report.stats.counts == inner[0].stats.counts == Counts(submitted=1, spooled=1)
