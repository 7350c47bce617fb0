"""Threads are started once, whoever asks, and who waits for them waits until they run."""

import threading
from typing import Any

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, until
from uploader.worker import beginning, starting
from uploader.worker.beginning import Beginning


def test_many_threads_begin_once() -> None:
    its, started = Beginning(), []
    at_once = threading.Barrier(8)

    def begin() -> None:
        at_once.wait(TIMEOUT_S)
        its.begin(lambda: started.append(1))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert its.has_begun()
    until(lambda: not starting._starting)
    assert started == [1]


def test_who_waits_for_threads_waits_while_another_starts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    its, goes_on, begins = Beginning(), threading.Event(), threading.Event()

    def slowly(*starts: Any) -> None:
        begins.set()
        assert goes_on.wait(TIMEOUT_S)

    monkeypatch.setattr(beginning, "start_soon", slowly)
    thread = threading.Thread(target=its.begin)
    thread.start()
    assert begins.wait(TIMEOUT_S)
    its.begin()
    assert not its.begun
    later = threading.Timer(0.05, goes_on.set)
    later.start()
    assert its.has_begun()
    thread.join()
    later.join()


def test_what_could_not_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*starts: Any) -> None:
        raise RuntimeError("can't start new thread")

    its, started = Beginning(), threading.Event()
    assert not its.has_begun()
    with monkeypatch.context() as context:
        context.setattr(beginning, "start_soon", refuse)
        with pytest.raises(RuntimeError):
            its.begin(started.set)
    assert not its.has_begun()
    its.begin(started.set)
    assert its.has_begun()
    assert started.wait(TIMEOUT_S)


def test_a_signal_handler_does_not_wait_for_what_it_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    its, told = Beginning(), []
    monkeypatch.setattr(beginning, "start_soon", lambda *starts: told.append(its.has_begun()))
    monkeypatch.setattr(beginning, "_LOOK_AGAIN_S", -1)  # a sleep would raise
    its.begin()
    assert told == [False]
    assert its.has_begun()
