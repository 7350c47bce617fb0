"""The batcher gives way and stops; which batches it makes is shown in test_batching.py."""

from collections.abc import Callable

import pytest

from encoder.pacer import Pacer
from uploader.batcher import Batcher, StoppedWork
from uploader.lines import whole_line
from uploader.sealing import Sealer


class Clock:
    """Time that passes when told to, and the naps that were taken."""

    def __init__(self) -> None:
        self.now = 0.0
        self.naps = 0

    def time(self) -> float:
        return self.now

    def nap(self, duration_s: float) -> None:
        self.naps += 1


def batcher_of(clock: Clock, whole: Callable[..., tuple[list[bytes], int] | None] = whole_line) -> Batcher:
    return Batcher(Sealer(target_batch_bytes=2), whole, Pacer(0.001, clock.time, clock.nap))


def test_it_gives_way_when_its_time_is_up() -> None:
    clock = Clock()
    batcher = batcher_of(clock)
    for _ in range(10):
        clock.now += 0.0004
        batcher.push(b"\n")
    assert clock.naps == 3


def test_stopped_work_ends_at_the_next_item() -> None:
    batcher = batcher_of(Clock())
    batcher.push(b"1\n")
    batcher.stop()
    with pytest.raises(StoppedWork):
        batcher.push(b"2\n")


def test_stopped_work_ends_at_the_next_chunk() -> None:
    def whole(line: bytes, line_number: int) -> tuple[list[bytes], int]:
        batcher.stop()
        return [line], len(line)

    batcher = batcher_of(Clock(), whole)
    with pytest.raises(StoppedWork):
        batcher.push(b"1" * 1_000_000)


def test_group_gives_the_batches_before_its_failure() -> None:
    batches, error = batcher_of(Clock()).push_group([b"1\n", b"2\n", 3, b"4\n"])
    assert [sealed.batch.first_line_number for sealed in batches] == [1]
    assert "line must be bytes" in str(error)
    assert batcher_of(Clock()).push_group([b"1\n"]) == ([], None)


def test_finish_gives_what_is_left() -> None:
    batcher = batcher_of(Clock())
    assert batcher.finish() is None
    batcher.push(b"1\n")
    sealed = batcher.finish()
    assert sealed is not None
    assert sealed.batch.size == 2
    assert batcher.finish() is None
