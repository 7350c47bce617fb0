"""What a disk refuses is tried again."""

import logging
import threading
from collections.abc import Callable, Iterable

import pytest

from uploader.errors import SpoolLockedError
from uploader.monitors import disk as disk_
from uploader.monitors.disk import Disk
from uploader.monitors.failures import Failures
from uploader.pumps import StoppedError


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_, "_FIRST_PAUSE_S", 0)


def script(steps: Iterable[BaseException | int]) -> Callable[[], int]:
    left = iter(steps)

    def attempt() -> int:
        step = next(left)
        if isinstance(step, BaseException):
            raise step
        return step

    return attempt


def test_it_is_tried_until_it_works(caplog: pytest.LogCaptureFixture) -> None:
    failures = Failures("The monitor X")
    disk = Disk("out", failures)
    steps: list[BaseException | int] = [OSError("full"), OSError("full"), SpoolLockedError("out", "in use"), 5]
    assert disk.until_done("writing", script(steps), threading.Event()) == 5
    assert not disk.is_failing
    assert failures.count == 3
    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.ERROR, logging.WARNING]
    assert caplog.records[-1].getMessage() == "out can be written to again"


def test_nothing_is_said_while_it_works(caplog: pytest.LogCaptureFixture) -> None:
    disk = Disk("out", Failures("X"))
    assert disk.until_done("writing", lambda: 5, threading.Event()) == 5
    assert caplog.records == []


def test_it_is_tried_no_longer_than_somebody_waits() -> None:
    failures = Failures("X")
    disk = Disk("out", failures)
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        disk.until_done("writing", script([OSError("full")]), stop)
    assert (disk.is_failing, failures.count) == (True, 1)


def test_what_is_no_fault_of_the_disk_is_raised() -> None:
    failures = Failures("X")
    with pytest.raises(KeyError):
        Disk("out", failures).until_done("writing", script([KeyError("x")]), threading.Event())
    assert failures.count == 0


def test_a_failed_attempt_keeps_nothing_alive() -> None:
    class Record:
        pass

    held = [Record()]
    alive: list[bool] = []

    def attempt() -> int:
        record = held[0]
        if not alive:
            alive.append(record is held[0])
            raise OSError("full")
        return 5

    import gc
    import weakref

    reference = weakref.ref(held[0])
    gc.disable()
    try:
        Disk("out", Failures("X")).until_done("writing", attempt, threading.Event())
        held.clear()
        assert reference() is None
    finally:
        gc.enable()
