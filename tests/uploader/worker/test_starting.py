"""Threads are started without a wait; one that cannot be is tried again."""

import threading

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, until
from uploader.worker import starting


class Threads:
    """Things to start; those in `failing` cannot be, so many times."""

    def __init__(self, failing: dict[str, int]) -> None:
        self.failing = failing
        self.started: list[tuple[str, bool]] = []
        self.tried: list[str] = []

    def start(self, name: str) -> None:
        self.tried.append(name)
        if self.failing.get(name):
            self.failing[name] -= 1
            raise RuntimeError("can't start new thread")
        self.started.append((name, threading.current_thread() is threading.main_thread()))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_AGAIN_S", 0.0)


@pytest.mark.parametrize("late", [True, False])
def test_all_are_started_in_order_each_once(
    late: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(starting, "_AT_ONCE", not late)
    threads = Threads({"b": 2})
    starting.start_soon(*(lambda name=name: threads.start(name) for name in "abc"))
    until(lambda: len(threads.started) == 3)
    assert [name for name, _ in threads.started] == ["a", "b", "c"]
    assert threads.tried == ["a", "b", "b", "b", "c"]
    assert [here for _, here in threads.started] == [not late, False, False]
    assert [record.levelname for record in caplog.records] == ["ERROR"] * (1 if late else 2)


@pytest.mark.parametrize("late", [True, False])
def test_the_interpreter_s_end_waits_for_what_is_being_started(late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_AT_ONCE", not late)
    gate, started = threading.Event(), threading.Event()

    def start() -> None:
        if threading.current_thread() is not threading.main_thread():
            assert gate.wait(TIMEOUT_S)
        started.set()

    starting.start_soon(start)
    assert started.is_set() is not late
    assert len(starting._starting) == late
    gate.set()
    starting._wait()
    assert started.wait(TIMEOUT_S)
    until(lambda: not starting._starting)


def test_without_any_thread_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(starting, "_AT_ONCE", False)
    monkeypatch.setattr("_thread.start_new_thread", failing)
    with pytest.raises(RuntimeError):
        starting.start_soon(lambda: None)
    assert not starting._starting
