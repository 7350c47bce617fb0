"""Whatever happens in whatever order: nothing is lost, nothing is under way twice, the bounds hold, and it ends."""

from hypothesis import given
from hypothesis import strategies as st

from tests.uploader.delivery.test_queue import Item
from uploader.delivery.queue import SinkQueue

OUTCOMES = ("stored", "refused", "asked", "failed", "given up", "put off", "judged", "hurry")


@given(st.integers(1, 8), st.integers(1, 12), st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 7))))
def test_no_item_is_lost_and_all_are_stored_at_last(most: int, count: int, script: list[tuple[str, int]]) -> None:
    queue: SinkQueue[Item] = SinkQueue(most, lambda: 0.5)
    for number in range(count):
        queue.put(Item(number))
    waiting, under_way, done = set(range(count)), list[int](), set[int]()
    now, steps = 0.0, iter(script)
    while len(done) < count:
        while (item := queue.start(now, lambda _: 5_000_000)) is not None:
            waiting.remove(item.number)
            under_way.append(item.number)
        assert (queue.num_waiting, queue.num_under_way) == (len(waiting), len(under_way))
        assert len(under_way) <= most
        assert 1 <= queue.concurrency.limit <= most
        if not under_way:
            wake_at = queue.wake_at(now)
            assert wake_at is not None
            assert wake_at >= now
            now = max(wake_at, now + 0.001)
            continue
        now += 0.1
        outcome, which = next(steps, ("stored", 0))
        if outcome == "hurry":
            queue.hurry(now)
            continue
        number = under_way.pop(which % len(under_way))
        item = Item(number)
        if outcome in ("stored", "judged"):
            done.add(number)
            queue.stored(item, now, 5_000_000, 0.1) if outcome == "stored" else queue.judged(item)
            continue
        waiting.add(number)
        if outcome in ("refused", "asked"):
            assert queue.refused(item, now, 7.0 if outcome == "asked" else None) > 0
        elif outcome == "failed":
            assert queue.failed(item, now) > 0
        else:
            queue.given_up(item)
            queue.put(item) if outcome == "given up" else queue.put_off(item, now + 15.0)
