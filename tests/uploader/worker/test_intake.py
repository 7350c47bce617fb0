"""The queue: two real bounds, all or nothing, order, and barriers in their place."""

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.models import LineFormat
from uploader.worker.barriers import Barrier
from uploader.worker.intake import CLOSED, TOO_MANY_BYTES, TOO_MANY_RECORDS, Entry, Intake
from uploader.worker.ledger import Ledger


def new(max_records: int = 10, max_bytes: int = 1000, clock: Any = lambda: 0.0) -> tuple[Intake, Ledger]:
    ledger = Ledger()
    return Intake(ledger, max_records, max_bytes, clock), ledger


def taken(intake: Intake) -> list[Any]:
    found = []
    while (item := intake.take(0)) is not None:
        found.append(item.held[0] if isinstance(item, Entry) else item)
    return found


def test_records_come_out_in_order_one_by_one() -> None:
    intake, ledger = new()
    assert intake.put([b"a", b"b"], LineFormat.TRACE) is None
    assert intake.put([b"c"], LineFormat.EPISODE) is None
    entry = intake.take(0)
    assert isinstance(entry, Entry)
    assert entry.held == [b"a"]
    assert entry.label is LineFormat.TRACE
    assert (ledger.counts().queued, ledger.counts().encoding) == (2, 1)
    assert taken(intake) == [b"b", b"c"]


def test_a_batch_that_has_too_many_records_is_refused_whole() -> None:
    intake, ledger = new(max_records=3)
    intake.put([b"a", b"b"], LineFormat.TRACE)
    assert intake.put([b"c", b"d"], LineFormat.TRACE) == TOO_MANY_RECORDS
    assert intake.put([b"e"], LineFormat.TRACE) is None
    counts = ledger.counts()
    assert (counts.submitted, counts.queued, counts.dropped) == (5, 3, 2)
    assert counts.dropped_reasons == {TOO_MANY_RECORDS: 2}
    assert taken(intake) == [b"a", b"b", b"e"]


def test_a_batch_that_has_too_many_bytes_is_refused_whole() -> None:
    intake, ledger = new(max_bytes=1000)
    intake.put([b"x" * 600], LineFormat.TRACE)
    assert intake.put([b"x" * 100, b"x" * 500], LineFormat.TRACE) == TOO_MANY_BYTES
    assert intake.put([b"x" * 400], LineFormat.TRACE) is None
    assert intake.queued_bytes == 1000
    assert ledger.counts().dropped == 2


@pytest.mark.parametrize("records", [[b"x"] * 50, [b"x" * 5000]])
def test_anything_fits_an_empty_queue(records: list[bytes]) -> None:
    intake, _ = new(max_records=3, max_bytes=1000)
    assert intake.put(records, LineFormat.TRACE) is None
    assert intake.put([b"x"], LineFormat.TRACE) is not None
    assert taken(intake) == records
    assert intake.put(records, LineFormat.TRACE) is None


def test_what_the_encoder_sees_corrects_what_is_queued_already() -> None:
    intake, _ = new(max_bytes=20_000)
    intake.put([{}, {}, {}], LineFormat.TRACE)
    assert intake.put([{}, {}], LineFormat.TRACE) == TOO_MANY_BYTES  # four kilobytes each, as long as none was seen
    entry = intake.take(0)
    assert isinstance(entry, Entry)
    intake.learn(entry.estimate, 100)
    assert intake.queued_bytes == 200
    assert intake.put([{}] * 7, LineFormat.TRACE) is None
    intake.learn(entry.estimate, 1_000_000)
    assert intake.put([{}], LineFormat.TRACE) == TOO_MANY_BYTES


def test_no_records_are_no_batch() -> None:
    intake, ledger = new()
    assert intake.put([], LineFormat.TRACE) is None
    assert intake.is_empty
    assert ledger.counts().submitted == 0


def test_a_barrier_keeps_its_place() -> None:
    intake, _ = new()
    barrier = Barrier()
    intake.put([b"a", b"b"], LineFormat.TRACE)
    intake.put_barrier(barrier)
    intake.put([b"c"], LineFormat.TRACE)
    assert taken(intake) == [b"a", b"b", barrier, b"c"]


def test_a_last_barrier_may_jump_the_queue() -> None:
    intake, ledger = new()
    last, waiting = Barrier(is_last=True), Barrier()
    intake.put([b"a", b"b"], LineFormat.TRACE)
    intake.put_barrier(waiting)
    intake.put_barrier(last)
    intake.end(last)
    assert intake.take(0) is last
    assert waiting.is_passed
    assert not waiting.wait(0)
    assert not last.is_passed
    assert ledger.counts().queued == 2


def test_behind_the_last_barrier_none_waits() -> None:
    intake, _ = new()
    intake.put_barrier(Barrier(is_last=True))
    late = Barrier()
    intake.put_barrier(late)
    assert late.is_passed
    assert not late.wait(0)


def test_a_closed_intake_refuses() -> None:
    intake, ledger = new()
    intake.close()
    assert intake.put([b"a"], LineFormat.TRACE) == CLOSED
    assert ledger.counts().dropped_reasons == {CLOSED: 1}


def test_the_age_is_that_of_the_oldest_record_that_is_queued() -> None:
    now_s = 0.0
    intake, _ = new(clock=lambda: now_s)
    assert intake.oldest_age_s == 0.0
    intake.put([b"a", b"b"], LineFormat.TRACE)
    now_s = 2.0
    intake.put_barrier(Barrier())
    intake.put([b"c"], LineFormat.TRACE)
    now_s = 5.0
    assert intake.oldest_age_s == 5.0
    intake.take(0)
    assert intake.oldest_age_s == 5.0
    intake.take(0)
    assert intake.oldest_age_s == 3.0


def test_whoever_takes_is_woken() -> None:
    intake, _ = new()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(intake.take(60)))
    thread.start()
    while not intake._hungry:
        pass
    intake.put([b"a"], LineFormat.TRACE)
    thread.join(30)
    assert found[0].held == [b"a"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 400), st.booleans()), max_size=30))
def test_the_bounds_hold_whatever_comes_and_goes(steps: list[tuple[int, int, bool]]) -> None:
    intake, ledger = new(max_records=8, max_bytes=1000)
    for count, size, take in steps:
        was_empty = ledger.queued == 0
        accepted = intake.put([b"x" * size] * count, LineFormat.TRACE) is None
        assert accepted or not was_empty
        if not was_empty and count and accepted:
            assert ledger.queued <= 8
            assert intake.queued_bytes <= 1000
        if take:
            intake.take(0)
        counts = ledger.counts()
        assert counts.total == counts.submitted
    while intake.take(0) is not None:
        pass
    assert intake.queued_bytes == 0
