"""What is recorded of the encoder's steps and slices, told by a fake clock; and of real encodings."""

import asyncio
import gc
import itertools
import threading
import time
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, field_serializer

from encoder import EncodeError, gaps, record_gaps
from encoder.encode import aiter_json, iter_json, to_json
from encoder.gaps import Durations, Gaps, longest_gaps
from encoder.pacer import Pacer
from encoder.splicer import PIECE_BYTES, splice


class Numbers(BaseModel):
    numbers: list[int]


class Item(BaseModel):
    busy_s: float

    @field_serializer("busy_s")
    def _be_busy(self, busy_s: float) -> float:
        end = time.thread_time() + busy_s
        while time.thread_time() < end:
            pass
        return busy_s


class Items(BaseModel):
    items: list[Item]


LARGE = Numbers(numbers=list(range(200_000)))


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def lasting(clock: FakeClock, *seconds: int) -> Iterator[bytes]:
    """Steps that take as long as is given."""
    for each in seconds:
        clock.now_s += each
        yield b""


def test_steps_and_the_slices_that_they_make() -> None:
    clock = FakeClock()
    with record_gaps(clock) as found:
        steps = gaps.watched(lasting(clock, 1, 2, 3))
        for number, _ in enumerate(steps):
            clock.now_s += 10  # whoever asked for the step
            if number == 1:
                gaps.gave_way()
    assert list(found.steps.kept_s) == [1, 2, 3, 0]
    assert list(found.slices.kept_s) == [3, 3]
    assert found.slices.longest_s == 3


def test_giving_way_is_told_by_those_who_do() -> None:
    clock = FakeClock()
    with record_gaps(clock) as found:
        pacer = Pacer(2.5, clock, lambda seconds: None)
        for _ in gaps.watched(lasting(clock, 1, 1, 1, 2)):
            pacer.pause_if_due()
    assert list(found.slices.kept_s) == [3, 2]


def test_threads_have_slices_of_their_own() -> None:
    clock = FakeClock()
    with record_gaps(clock) as found:
        one, two = gaps.watched(lasting(clock, 1, 2)), gaps.watched(lasting(clock, 10))
        next(one)
        thread = threading.Thread(target=lambda: list(two))
        thread.start()
        thread.join()
        list(one)
    assert list(found.slices.kept_s) == [10, 3]


def test_tasks_of_one_loop_share_a_slice() -> None:
    clock = FakeClock()
    with record_gaps(clock) as found:
        one, two = gaps.watched(lasting(clock, 1, 2)), gaps.watched(lasting(clock, 10, 20))
        next(one)
        next(two)
        gaps.gave_way()
        list(one)
        list(two)
    assert list(found.slices.kept_s) == [11, 2, 20]


def test_nothing_stands_between_where_nobody_records() -> None:
    steps = iter([b""])
    assert gaps.watched(steps) is steps
    with record_gaps():
        assert gaps.watched(steps) is not steps
    assert gaps.watched(steps) is steps


def test_recorders_inside_of_each_other() -> None:
    with record_gaps() as outer:
        to_json(LARGE)
        with record_gaps() as inner:
            to_json(LARGE)
    to_json(LARGE)
    assert outer.steps.count == 2 * inner.steps.count


def test_a_failed_encoding_ends_its_slice() -> None:
    with record_gaps() as found, pytest.raises(EncodeError):
        to_json(Numbers.model_construct(numbers=["\ud800"] * 100_000))  # type: ignore[list-item]
    assert found.slices.count >= 1


def test_few_of_many_are_kept_but_the_longest_is_known() -> None:
    durations = Durations(max_kept=8)
    for number in itertools.chain(range(50), [99, 3, 4], range(47)):
        durations.add(number)
    assert durations.count == 100
    assert durations.longest_s == 99
    assert len(durations.kept_s) <= 8
    assert list(durations.kept_s[:3]) == [0, 16, 32]


def test_percentiles() -> None:
    durations = Durations()
    assert (durations.p50_s, durations.p99_s) == (0.0, 0.0)
    for number in range(1, 101):
        durations.add(number)
    assert (durations.p50_s, durations.p99_s, durations.longest_s) == (50, 99, 100)


def ways_recorded() -> dict[str, Gaps]:
    """What each way of encoding one model recorded."""
    found = {}
    with record_gaps() as found["to_json"]:
        size = len(to_json(LARGE))
    with record_gaps() as found["iter_json"]:
        assert sum(map(len, iter_json(LARGE))) == size

    async def on_the_loop() -> int:
        return sum([len(piece) async for piece in aiter_json(LARGE)])

    with record_gaps() as found["aiter_json"]:
        assert asyncio.run(on_the_loop()) == size
    return found


def test_every_way_is_recorded() -> None:
    steps = len(list(splice(LARGE, {}))) + 1
    found = ways_recorded()
    assert found["iter_json"].steps.count == found["aiter_json"].steps.count == steps
    assert steps < found["to_json"].steps.count <= steps + 2 + len(to_json(LARGE)) // PIECE_BYTES
    assert all(recorded.slices.count >= 1 for recorded in found.values())


def test_the_longest_step_holds_the_longest_serializer() -> None:
    model = Items(items=[Item(busy_s=0.0), Item(busy_s=0.02)])
    longest = longest_gaps(lambda: to_json(model))
    assert longest.step_ms >= 20
    assert longest.slice_ms >= longest.step_ms
    assert gc.isenabled()


def test_a_slice_without_a_step_is_none() -> None:
    found = Gaps(time.thread_time)
    found.end_slice()
    assert found.slices.count == 0


def test_longest_gaps_of_passes_that_differ_and_without_garbage_collection() -> None:
    sizes = iter([200_000, 10, 10, 10, 10, 10, 10, 10])
    gc.disable()
    try:
        found = longest_gaps(lambda: to_json(Numbers(numbers=list(range(next(sizes))))))
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert found.step_ms > 0
