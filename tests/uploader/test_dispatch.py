from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.dispatch import Window
from uploader.errors import UploaderError
from uploader.flow import Delivery
from uploader.models import Batch, UploadReceipt


def commit(delivery: Delivery, name: str) -> None:
    delivery.committed.append((Batch(name, 1, 1, 1), UploadReceipt(upload_id=name, status="committed")))


def names(due: Any) -> list[str]:
    return [batch.digest for batch, _ in due]


def test_no_more_than_allowed_are_under_way() -> None:
    window = Window(2)
    first = window.start(Delivery(None))
    assert window.has_room
    window.start(Delivery(None))
    assert not window.has_room
    window.end(first, None)
    assert window.has_room
    assert window.in_flight == 1


def test_receipts_wait_for_the_batches_before() -> None:
    window, deliveries = Window(3), [Delivery(None) for _ in range(3)]
    numbers = [window.start(delivery) for delivery in deliveries]
    commit(deliveries[2], "c")
    window.end(numbers[2], None)
    assert names(window.due()) == []
    commit(deliveries[0], "a")
    window.end(numbers[0], None)
    assert names(window.due()) == ["a"]
    commit(deliveries[1], "b1")
    commit(deliveries[1], "b2")
    window.end(numbers[1], None)
    assert names(window.due()) == ["b1", "b2", "c"]
    assert [receipt.upload_id for receipt in window.receipts] == ["a", "b1", "b2", "c"]


def test_after_a_failure_nothing_starts_and_the_rest_is_due() -> None:
    window, deliveries = Window(3), [Delivery(None) for _ in range(3)]
    numbers = [window.start(delivery) for delivery in deliveries]
    error = UploaderError("no")
    commit(deliveries[0], "part")
    window.end(numbers[0], error)
    assert not window.has_room
    commit(deliveries[2], "c")
    window.end(numbers[2], None)
    assert names(window.due(final=True)) == ["part", "c"]
    with pytest.raises(UploaderError) as caught:
        window.raise_failure()
    assert caught.value is error
    assert [receipt.upload_id for receipt in error.receipts] == ["part", "c"]


def test_a_report_that_fails_is_not_repeated_but_the_next_ones_come() -> None:
    window, delivery = Window(1), Delivery(None)
    number = window.start(delivery)
    commit(delivery, "a")
    commit(delivery, "b")
    window.end(number, None)
    assert next(window.due())[0].digest == "a"
    assert names(window.due()) == ["b"]


def test_the_first_failure_counts_but_an_interrupt_is_not_lost() -> None:
    window = Window(1)
    first = ValueError()
    window.stop(first)
    window.stop(ValueError())
    assert window.failure is first
    assert not window.interrupted
    window.stop(KeyboardInterrupt())
    window.stop(SystemExit())
    assert window.interrupted
    with pytest.raises(KeyboardInterrupt):
        window.raise_failure()


def test_without_a_failure_nothing_is_raised() -> None:
    Window(1).raise_failure()


@given(order=st.permutations(range(6)), failing=st.none() | st.integers(0, 5))
def test_whatever_the_order_each_receipt_is_due_once_and_in_order(order: list[int], failing: int | None) -> None:
    window, deliveries = Window(6), [Delivery(None) for _ in range(6)]
    numbers = [window.start(delivery) for delivery in deliveries]
    found: list[str] = []
    for index in order:
        if index == failing:
            window.end(numbers[index], UploaderError("no"))
        else:
            commit(deliveries[index], str(index))
            window.end(numbers[index], None)
        window.end(numbers[index], None)  # saying so twice does no harm
        found += names(window.due())
    found += names(window.due(final=True))
    assert found == [str(index) for index in range(6) if index != failing]
    assert window.in_flight == 0
