"""A thread that calls one function after the other."""

import _thread
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from uploader.monitors.failures import Failures
from uploader.monitors.work_queue import WorkQueue
from uploader.pumps import StoppedError

NEVER = threading.Event()


@pytest.fixture
def failures() -> Failures:
    return Failures("The monitor X")


@pytest.fixture
def queue(failures: Failures) -> Iterator[WorkQueue]:
    queue = WorkQueue("uploader test", "calling", failures, 5)
    yield queue
    queue.close(lambda: None, 30, NEVER)


def test_functions_are_called_in_order_in_one_thread(queue: WorkQueue) -> None:
    called: list[Any] = []
    for number in range(5):
        assert queue.put(lambda number=number: called.append((number, threading.current_thread().name)))  # type: ignore[misc]
        assert queue.flush(30, NEVER)
    assert called == [(number, "uploader test") for number in range(5)]


def test_one_that_fails_concerns_no_other(queue: WorkQueue, failures: Failures) -> None:
    called: list[int] = []

    def fail() -> None:
        raise SystemExit

    assert queue.put(fail)
    assert queue.put(lambda: called.append(1))
    assert queue.flush(30, NEVER)
    assert (called, queue.dropped, failures.last) == ([1], 1, "calling: SystemExit: ")


def test_there_is_room_for_so_many(queue: WorkQueue) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(30)

    queue.put(wait)
    assert begun.wait(30)
    assert [queue.put(lambda: None) for _ in range(7)] == [True] * 5 + [False] * 2
    assert (queue.dropped, queue.waiting) == (2, 5)
    assert not queue.flush(0.01, NEVER)
    stop = threading.Event()
    stop.set()
    assert not queue.flush(None, stop)
    go_on.set()
    assert queue.flush(30, NEVER)


def test_the_last_function_is_called_at_the_end(failures: Failures) -> None:
    queue = WorkQueue("uploader test", "calling", failures, 5)
    called: list[int] = []
    queue.put(lambda: called.append(1))
    assert queue.close(lambda: called.append(2), 30, NEVER)
    assert not queue.put(lambda: called.append(3))
    assert queue.flush(30, NEVER)
    assert (called, queue.dropped) == ([1, 2], 1)


def test_what_there_is_no_time_for_is_counted(failures: Failures) -> None:
    queue = WorkQueue("uploader test", "calling", failures, 5)
    called: list[int] = []

    def wait() -> None:
        if queue.stopped.wait(30):
            raise StoppedError

    queue.put(wait)
    queue.put(lambda: called.append(1), 5)
    assert not queue.close(lambda: called.append(2), 0, NEVER)
    assert queue._ended.wait(30)
    assert (called, queue.dropped, failures.count) == ([], 6, 0)


def test_what_was_never_used_needs_no_end(failures: Failures) -> None:
    queue = WorkQueue("uploader test", "calling", failures, 5)
    assert queue.flush(None, NEVER)
    assert queue.close(lambda: None, 0, NEVER)
    queue.start()
    assert not queue.is_begun


@pytest.mark.parametrize("at_once", [False, True])
def test_no_thread_to_be_had_is_tried_again(at_once: bool, queue: WorkQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("uploader.worker.starting._AT_ONCE", at_once)
    called: list[int] = []
    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", refuse)
        context.setattr(_thread, "start_new_thread", refuse)
        queue.put(lambda: called.append(1))
        assert not queue.is_begun
    queue.put(lambda: called.append(2))
    assert queue.flush(30, NEVER)
    assert called == [1, 2]
