"""A bad record costs itself: some 2 log2(n) requests, and no other record."""

import math
from typing import Any

import pytest

from tests.uploader.delivery.support import Delivery, ScriptedSink, lines, refusing, sealed
from uploader.delivery import parcels
from uploader.delivery.parcels import Parcel
from uploader.errors import DamagedBatchError, PayloadTooLargeError, SpoolFullError, ValidationRejectedError
from uploader.models import LineFormat
from uploader.sinks.base import SinkBatch
from uploader.testing import fake_time


def delivered(content: list[bytes], bad: list[bytes], max_in_flight: int = 8) -> tuple[Delivery, ScriptedSink]:
    sink = ScriptedSink(always=refusing(*bad))
    with Delivery(sink, max_in_flight=max_in_flight) as delivery:
        delivery.offer(content)
        delivery.deliver()
    return delivery, sink


@pytest.mark.parametrize("position", [0, 1, 249, 250, 499])
def test_one_bad_line_among_500_is_set_aside_alone(position: int) -> None:
    content = lines(500)
    delivery, sink = delivered(content, [content[position]])
    [(spooled, error)] = delivery.listener.rejections
    assert spooled.batch.num_lines == 1
    assert isinstance(error, ValidationRejectedError)
    assert b"".join(sorted(sink.stored)) != b""
    assert sorted(b"".join(sink.stored).splitlines(keepends=True)) == sorted(
        content[:position] + content[position + 1 :]
    )
    assert len(sink.batches) - 1 <= 2 * math.ceil(math.log2(500))
    [stats] = delivery.sender.stats()
    assert (stats.stored_records, stats.rejected_records) == (499, 1)
    assert delivery.folder.waiting() == []


@pytest.mark.parametrize("number", [2, 5, 20])
def test_each_bad_line_costs_no_more(number: int) -> None:
    content = lines(400)
    bad = content[7 :: 400 // number][:number]
    delivery, sink = delivered(content, bad)
    assert len(delivery.listener.rejections) == number
    assert all(spooled.batch.num_lines == 1 for spooled, _ in delivery.listener.rejections)
    assert sorted(b"".join(sink.stored).splitlines(keepends=True)) == sorted(set(content) - set(bad))
    assert len(sink.batches) - 1 <= number * 2 * math.ceil(math.log2(400))


def test_what_came_later_stays_in_order_around_a_division() -> None:
    content = lines(8)
    sink = ScriptedSink(always=refusing(content[2]))
    with Delivery(sink, max_in_flight=1) as delivery:
        delivery.offer(content)
        for number in range(8, 30):
            delivery.offer(lines(1, number))
        delivery.deliver()
    stored = b"".join(sink.stored).splitlines(keepends=True)
    assert sorted(stored) == sorted(set(lines(30)) - {content[2]})
    assert [line for line in stored if line not in content] == lines(22, 8)


def test_parts_have_their_place_before_what_came_later() -> None:
    delivery = Delivery(ScriptedSink())
    spooled = [delivery.folder.add(LineFormat.TRACE, sealed(lines(1, number))) for number in range(4)]
    whole, later = (Parcel(delivery.folder, spooled[0], (0, n), delivery.listener, {"test"}) for n in (1, 2))
    first, second = whole.parts(spooled[:2])
    quarters = second.parts(spooled[2:])
    keys = [whole.key, first.key, *(quarter.key for quarter in quarters), later.key]
    assert keys == sorted(keys)
    assert len(set(keys)) == 5


def test_two_lines_that_only_clash_with_each_other_are_both_stored() -> None:
    def no_two(batch: SinkBatch) -> Exception | None:
        if batch.sealed.batch.num_lines > 1:
            return ValidationRejectedError("twice", status_code=400, code="duplicate_trace_id")
        return None

    sink = ScriptedSink(always=no_two)
    with Delivery(sink) as delivery:
        delivery.offer(lines(2))
        delivery.deliver()
    assert (sorted(sink.stored), delivery.listener.rejections) == (lines(2), [])


def test_a_batch_that_is_too_large_is_divided_until_it_fits() -> None:
    def small(batch: SinkBatch) -> Exception | None:
        return PayloadTooLargeError("large", status_code=413) if batch.sealed.batch.num_lines > 10 else None

    sink = ScriptedSink(always=small)
    with Delivery(sink) as delivery:
        delivery.offer(lines(40))
        delivery.deliver()
    assert [content.count(b"\n") for content in sink.stored] == [10] * 4
    assert delivery.listener.rejections == []


def test_the_cost_of_one_batch_is_bounded_and_the_rest_is_set_aside_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "MAX_EXTRA_REQUESTS", 30)
    content = lines(500)
    delivery, sink = delivered(content, content)
    assert len(sink.batches) <= 31
    assert sum(spooled.batch.num_lines for spooled, _ in delivery.listener.rejections) == 500
    assert delivery.sender.stats()[0].rejected_records == 500


def test_a_disk_that_is_full_only_puts_the_division_off(monkeypatch: pytest.MonkeyPatch) -> None:
    content = lines(4)
    sink = ScriptedSink(always=refusing(content[3]))
    with fake_time(), Delivery(sink) as delivery:
        divide, failures = delivery.folder.divide, iter([SpoolFullError("spool", "full")])

        def failing(*args: Any) -> Any:
            if (error := next(failures, None)) is not None:
                raise error
            return divide(*args)

        monkeypatch.setattr(delivery.folder, "divide", failing)
        delivery.offer(content)
        delivery.deliver()
    assert sorted(b"".join(sink.stored).splitlines(keepends=True)) == content[:3]
    assert len(delivery.listener.rejections) == 1


def test_a_batch_that_is_damaged_when_it_is_to_be_divided_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    content = lines(4)
    sink = ScriptedSink(always=refusing(content[3]))
    with Delivery(sink) as delivery:
        load, loads = delivery.folder.load, iter([True])

        def damaging(spooled: Any) -> Any:
            if next(loads, False):
                return load(spooled)
            delivery.folder.set_aside(spooled, "damaged")
            raise DamagedBatchError("file", "its hash differs", 4)

        monkeypatch.setattr(delivery.folder, "load", damaging)
        delivery.offer(content)
        delivery.deliver()
        [(_, error)] = delivery.listener.rejections
        assert isinstance(error, DamagedBatchError)


def test_a_batch_is_divided_for_all_sinks_once_none_has_it_under_way() -> None:
    content = lines(8)
    other = ScriptedSink([ValidationRejectedError("no", status_code=422)], name="other")
    sink = ScriptedSink(always=refusing(content[5]), name="strict")
    with Delivery(sink, other) as delivery:
        delivery.offer(content)
        delivery.deliver()
    assert sorted(b"".join(other.stored).splitlines(keepends=True)) == content
    assert sorted(b"".join(sink.stored).splitlines(keepends=True)) == sorted(set(content) - {content[5]})
    assert [spooled.batch.num_lines for spooled, _ in delivery.listener.rejections] == [1]
    assert delivery.folder.waiting() == []
