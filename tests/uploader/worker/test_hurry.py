"""A closing that somebody else hurries, and records with a `prepare` of their own."""

import threading
from typing import Any

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, Bench, hold, lines_of
from uploader.worker.counts import Counts

LONG_S = 100_000.0


def test_each_submission_may_have_its_own_preparation() -> None:
    bench = Bench(deal=hold, prepare=lambda record: {**record, "run": "all"})
    bench.worker.submit([{"a": 1}], prepare=lambda record: {**record, "run": "own"})
    bench.worker.submit([{"a": 2}])
    bench.worker.submit([{"a": 3}, {"a": 4}], prepare=lambda record: record)
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [b'{"a":1,"run":"own"}', b'{"a":2,"run":"all"}', b'{"a":3}', b'{"a":4}']


def closing_that_waits(bench: Bench) -> tuple[threading.Thread, threading.Event, list[Any]]:
    """A thread that closes a worker whose service answers nothing."""
    waits, reports = threading.Event(), []

    def wait_idle(timeout_s: float) -> bool:
        waits.set()
        threading.Event().wait(min(timeout_s, 0.001))
        return False

    bench.delivery.wait_idle = wait_idle  # type: ignore[method-assign]
    thread = threading.Thread(target=lambda: reports.append(bench.worker.close(LONG_S)))
    thread.start()
    return thread, waits, reports


def test_a_closing_is_hurried_from_another_thread() -> None:
    bench = Bench(deal=hold)
    bench.worker.hurry()  # nothing is closed yet
    bench.worker.submit([b"1"])
    assert bench.worker.flush(TIMEOUT_S)
    thread, waits, reports = closing_that_waits(bench)
    assert waits.wait(TIMEOUT_S)
    bench.worker.hurry()
    thread.join(TIMEOUT_S)
    assert reports[0].stats.counts == Counts(submitted=1, spooled=1)
    assert bench.disk.closed.is_set()


def test_what_a_signal_handler_raises_to_exit_ends_the_waiting() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1"])
    assert bench.worker.flush(TIMEOUT_S)

    def terminated(timeout_s: float) -> bool:
        raise SystemExit(143)

    bench.delivery.wait_idle = terminated  # type: ignore[method-assign]
    with pytest.raises(SystemExit):
        bench.worker.close(LONG_S)
    assert bench.delivery.stopped
    assert bench.disk.closed.is_set()
    assert bench.worker.close(0).stats.counts == Counts(submitted=1, spooled=1)
