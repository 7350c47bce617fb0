from dataclasses import dataclass

import pytest

from uploader.delivery.queue import SinkQueue

LARGE = 7_000_000


@dataclass(frozen=True)
class Item:
    number: int

    @property
    def key(self) -> tuple[int, ...]:
        return (self.number,)


Queue = SinkQueue[Item]


def queue_of(count: int, *, most: int = 8, jitter: float = 0.5) -> Queue:
    queue: Queue = SinkQueue(most, lambda: jitter)
    for number in range(count):
        queue.put(Item(number))
    return queue


def start_all(queue: Queue, now: float) -> list[int]:
    started = []
    while (item := queue.start(now, lambda _: 0)) is not None:
        started.append(item.number)
    return started


def store(queue: Queue, number: int, now: float, latency_s: float = 1.0) -> None:
    queue.stored(Item(number), now, LARGE, latency_s)


def test_items_start_in_order_as_many_as_the_window_allows() -> None:
    queue = queue_of(10)
    assert start_all(queue, 0.0) == [0, 1]
    store(queue, 1, 1.0)
    assert start_all(queue, 1.0) == [2, 3]
    assert (queue.num_waiting, queue.num_under_way) == (6, 3)
    assert queue.wake_at(1.0) is None


def test_large_requests_start_a_little_apart() -> None:
    queue = queue_of(3)
    assert queue.start(0.0, lambda _: LARGE) == Item(0)
    assert queue.start(0.0, lambda _: LARGE) is None
    assert queue.wake_at(0.0) == 0.04
    assert queue.start(0.04, lambda _: 1000) == Item(1)


def test_a_refused_item_is_the_first_to_start_after_the_pause_that_was_asked_for() -> None:
    queue = queue_of(5)
    start_all(queue, 0.0)
    assert queue.refused(Item(0), 1.0, retry_after_s=8.0) == 9.0
    assert start_all(queue, 9.9) == []
    assert queue.wake_at(1.0) is None  # the window is one, and one is under way
    store(queue, 1, 2.0)
    assert queue.wake_at(2.0) == 10.0
    assert start_all(queue, 10.0)[0] == 0


def test_what_is_under_way_goes_on_during_a_pause_and_does_not_end_it() -> None:
    queue = queue_of(5)
    start_all(queue, 0.0)
    queue.refused(Item(1), 1.0, retry_after_s=10.0)
    store(queue, 0, 2.0)
    assert start_all(queue, 2.0) == []
    assert queue.num_under_way == 0


def test_refusals_without_a_time_back_off_a_little_longer_each_time() -> None:
    queue = queue_of(1)
    now, delays = 0.0, []
    for _ in range(5):
        assert start_all(queue, now) == [0]
        delays.append(queue.refused(Item(0), now + 0.1, None))
        now = queue.paused_until
    assert delays == pytest.approx([0.5, 1.0, 1.0, 1.0, 1.0])


def test_a_sink_that_is_down_is_tried_for_ever_with_pauses_of_at_most_45_s() -> None:
    queue = queue_of(3, jitter=0.999)
    now = 0.0
    for _ in range(1000):
        wake_at = queue.wake_at(now)
        assert wake_at is not None
        assert wake_at - now <= 45.0
        now = max(now, wake_at)
        for number in start_all(queue, now):
            queue.failed(Item(number), now + 0.01)
    assert queue.num_waiting == 3
    assert queue.concurrency.limit == 1


def test_failures_of_requests_that_were_under_way_together_count_as_one() -> None:
    queue = queue_of(5)
    start_all(queue, 0.0)
    store(queue, 0, 1.0)
    assert start_all(queue, 1.0) == [2, 3]
    for number in (1, 2, 3):
        queue.failed(Item(number), 2.0)
    assert queue.failures == 1
    assert queue.paused_until == 3.0


def test_a_stored_item_ends_the_row_of_failures() -> None:
    queue = queue_of(4)
    start_all(queue, 0.0)
    queue.failed(Item(0), 1.0)
    store(queue, 1, 1.5)
    assert queue.failures == 0


def test_an_item_that_fails_by_itself_lets_others_go_first_and_is_tried_again() -> None:
    queue = queue_of(30, most=1)
    order: list[int] = []
    now = 0.0
    while queue.num_waiting > 1 or len(order) < 60:
        wake_at = queue.wake_at(now)
        assert wake_at is not None
        now = max(now, wake_at)
        for number in start_all(queue, now):
            order.append(number)
            now += 1.0
            if number == 0:
                queue.failed(Item(0), now)
            else:
                store(queue, number, now)
    assert order[:4] == [0, 0, 0, 1]
    assert [number for number in order if number] == list(range(1, 30))
    assert order.count(0) > 10


def test_in_an_outage_the_order_is_kept_for_when_it_ends() -> None:
    queue = queue_of(6, most=1)
    now = 0.0
    while now < 600:
        now = max(now, queue.wake_at(now) or now)
        for number in start_all(queue, now):
            queue.failed(Item(number), now + 0.01)
        now += 0.01
    now = max(now, queue.wake_at(now) or now) + 200
    order = []
    while queue.num_waiting:
        now = max(now, queue.wake_at(now) or now)
        for number in start_all(queue, now):
            order.append(number)
            store(queue, number, now)
    assert order == [0, 1, 2, 3, 4, 5]


def test_hurry_ends_a_pause_of_our_own_but_not_one_that_was_asked_for() -> None:
    queue = queue_of(2)
    start_all(queue, 0.0)
    queue.failed(Item(0), 1.0)
    queue.hurry(1.1)
    assert start_all(queue, 1.1) == []  # one is under way, and the window is one
    queue.refused(Item(1), 1.2, 10.0)
    queue.hurry(1.3)
    assert start_all(queue, 1.3) == []
    assert start_all(queue, 20.0) == [0]


def test_a_discarded_item_is_not_started_and_may_come_back() -> None:
    queue = queue_of(3)
    queue.discard(Item(0))
    assert queue.num_waiting == 2
    assert start_all(queue, 0.0) == [1, 2]
    queue.put(Item(0))
    queue.given_up(Item(1))
    assert start_all(queue, 0.0) == [0]


def test_an_item_that_was_put_off_waits_for_its_time() -> None:
    queue = queue_of(0)
    queue.put_off(Item(0), 15.0)
    assert (start_all(queue, 14.9), queue.wake_at(0.0)) == ([], 15.0)
    assert start_all(queue, 15.0) == [0]
