"""Events reach the hook on a thread of its own, and warnings the log, few of them."""

import logging
import threading
from typing import Any

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, until
from uploader.errors import DamagedBatchError, SpoolError
from uploader.worker import reporting
from uploader.worker.events import Dropped, Rejected, SinkStopped, SpoolDamaged, SpoolUnavailable
from uploader.worker.reporting import Reporting


def started(hook: Any = None) -> Reporting:
    reports = Reporting(hook, "reports")
    reports.thread.start()
    return reports


def test_events_come_in_order_on_a_thread_of_its_own() -> None:
    seen: list[Any] = []
    reports = started(lambda event: seen.append((event, threading.current_thread().name)))
    events = [Dropped(number, "full") for number in range(5)]
    for event in events:
        reports.tell(event)
    reports.end(TIMEOUT_S)
    assert seen == [(event, "reports") for event in events]


def test_thousands_of_drops_make_two_warnings(caplog: pytest.LogCaptureFixture) -> None:
    reports = started()
    for _ in range(3000):
        reports.tell(Dropped(2, "full"))
    reports.end(TIMEOUT_S)
    assert [record.getMessage() for record in caplog.records] == [
        "2 records dropped: full",
        "5998 more records dropped: full",
    ]


def test_what_was_dropped_is_looked_up_and_told_in_sum() -> None:
    dropped = {"full": 3}
    seen: list[Any] = []
    reports = Reporting(seen.append, "reports", lambda: dict(dropped))
    reports.thread.start()
    until(lambda: seen)
    dropped |= {"full": 7, "closed": 1}
    reports.end(TIMEOUT_S)
    assert seen == [Dropped(3, "full"), Dropped(4, "full"), Dropped(1, "closed")]


def test_each_kind_has_its_words(caplog: pytest.LogCaptureFixture) -> None:
    reports = started()
    reports.tell(Rejected(1, "too long", "line 3 is 70 MB"))
    reports.tell(SpoolUnavailable(OSError("read-only")))
    reports.tell(SinkStopped("traces", ValueError("401")))
    reports.end(TIMEOUT_S)
    said = {record.getMessage(): record.levelno for record in caplog.records}
    assert said == {
        "1 record set aside: line 3 is 70 MB": logging.WARNING,
        "1 batch kept in memory, as the spool cannot be written: read-only": logging.WARNING,
        "The sink traces is stopped, nothing more is sent to it: 401": logging.ERROR,
    }


def test_what_a_disk_does_wrong_again_and_again_is_said_in_sum_but_damage_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reports = started()
    for number in range(2):
        reports.tell(SpoolDamaged(SpoolError("run", "read-only")))
        reports.tell(SpoolDamaged(DamagedBatchError(f"batch {number}", "cut", 3)))
    reports.end(TIMEOUT_S)
    assert [record.getMessage() for record in caplog.records] == [
        "1 problem of the spool: run: read-only",
        "The spool: batch 0: cut; it held 3 records",
        "The spool: batch 1: cut; it held 3 records",
        "1 more problem of the spool: run: read-only",
    ]


def test_a_hook_that_fails_is_logged_once_and_called_again(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[Any] = []

    def hook(event: object) -> None:
        calls.append(event)
        raise RuntimeError("mine")

    reports = started(hook)
    for _ in range(3):
        reports.tell(SpoolUnavailable(OSError()))
    reports.end(TIMEOUT_S)
    assert len(calls) == 3
    assert [record.levelno for record in caplog.records].count(logging.ERROR) == 1


def test_a_hook_that_hangs_holds_up_nobody_and_costs_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "_MAX_WAITING", 5)
    hangs, go_on = threading.Event(), threading.Event()
    seen: list[Any] = []

    def hook(event: object) -> None:
        seen.append(event)
        hangs.set()
        go_on.wait(TIMEOUT_S)

    reports = started(hook)
    reports.tell(Dropped(0, "first"))
    assert hangs.wait(TIMEOUT_S)
    for number in range(9):
        reports.tell(Dropped(number, "full"))
    assert reports.untold == 4
    reports.end(0)
    go_on.set()
    until(reports.thread.ended.is_set)
    assert len(seen) == 6
