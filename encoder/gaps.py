"""Record how long the encoder works without giving way: each hold of the GIL, not only their sum.

    with record_gaps() as gaps:
        body = episode.to_json()
    print(gaps.steps.longest_s, gaps.slices.longest_s)

A *step* lies between two moments at which the encoder could give way, a *slice* between two at which it did. So a stall
that lasts longer than the longest slice is not the encoder's; and it cannot be made shorter than the longest step.

What whoever asks for pieces does between two of them is in neither, nor is the last join of `to_json`, which releases
the GIL by itself where it is long.
"""

import gc
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from encoder.probe import percentile

_MAX_KEPT: Final = 1 << 17
_PASSES: Final = 3


class Durations:
    """Some durations, in seconds.

    From `max_kept` on every second one is forgotten, then three of four, and so on; the longest never is.

    Args:
        max_kept: how many are kept at most.
    """

    def __init__(self, max_kept: int = _MAX_KEPT) -> None:
        self.count = 0
        self.longest_s = 0.0
        self.kept_s = array("d")
        self._max_kept = max_kept
        self._one_of = 1

    def add(self, seconds: float) -> None:
        """Take one in."""
        self.longest_s = max(self.longest_s, seconds)
        if not self.count % self._one_of:
            if len(self.kept_s) == self._max_kept:
                del self.kept_s[1::2]
                self._one_of *= 2
            self.kept_s.append(seconds)
        self.count += 1

    @property
    def p50_s(self) -> float:
        """The median; 0.0 where there is none."""
        return self.percentile_s(50)

    @property
    def p99_s(self) -> float:
        """The 99th percentile; 0.0 where there is none."""
        return self.percentile_s(99)

    def percentile_s(self, percent: float) -> float:
        """The shortest that `percent` of them do not exceed; 0.0 where there is none."""
        return percentile(sorted(self.kept_s), percent) if self.kept_s else 0.0


class Gaps:
    """What was recorded.

    Args:
        clock: seconds that only ever grow, in the thread that asks.

    Attributes:
        steps: from one moment at which the encoder could give way to the next.
        slices: from one at which it did to the next, or to the end of an encoding.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self.steps = Durations()
        self.slices = Durations()
        self._clock = clock
        self._mutex = threading.Lock()
        # Each thread's slice so far: several encodings on one event loop share it.
        self._slice_s: dict[int, float] = {}

    def watch(self, steps: Iterator[bytes]) -> Iterator[bytes]:
        """The same steps, each of them recorded."""
        clock = self._clock
        try:
            while True:
                start_s = clock()
                piece = next(steps, None)
                self._add_step(clock() - start_s)
                if piece is None:
                    return
                yield piece
        finally:
            self.end_slice()

    def _add_step(self, seconds: float) -> None:
        thread = threading.get_ident()
        with self._mutex:
            self.steps.add(seconds)
            self._slice_s[thread] = self._slice_s.get(thread, 0.0) + seconds

    def end_slice(self) -> None:
        """The thread that says so gives way."""
        with self._mutex:
            seconds = self._slice_s.pop(threading.get_ident(), None)
            if seconds is not None:
                self.slices.add(seconds)


_recording: list[Gaps] = []


@contextmanager
def record_gaps(clock: Callable[[], float] = time.thread_time) -> Iterator[Gaps]:
    """Record the gaps of every encoding that begins inside of the `with` block, in whatever thread.

    Args:
        clock: what measures them, by default the CPU time of the thread that encodes: what other processes take from
            it is not in that. With `time.perf_counter` it is.
    """
    gaps = Gaps(clock)
    _recording.append(gaps)
    try:
        yield gaps
    finally:
        _recording.remove(gaps)


def is_watched() -> bool:
    """Whether somebody records."""
    return bool(_recording)


def watched(steps: Iterator[bytes]) -> Iterator[bytes]:
    """The steps themselves, unless somebody records."""
    for gaps in tuple(_recording):
        steps = gaps.watch(steps)
    return steps


def gave_way() -> None:
    """Say that this thread released the GIL, or that its event loop had its turn."""
    for gaps in tuple(_recording):
        gaps.end_slice()


@dataclass(frozen=True, slots=True)
class Longest:
    """The longest step and the longest slice, in milliseconds."""

    step_ms: float
    slice_ms: float


def longest_gaps(work: Callable[[], object]) -> Longest:
    """The longest gaps of a piece of work that encodes, the least of a few passes; garbage collection is not in them.

    The passes take the same steps, so what makes one of them longer in one pass alone is the machine's.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    passes = []
    try:
        for _ in range(_PASSES):
            with record_gaps() as gaps:
                work()
            passes.append(gaps)
    finally:
        if was_enabled:
            gc.enable()
    steps_s = [gaps.steps.kept_s for gaps in passes]
    longest_s = min(gaps.steps.longest_s for gaps in passes)
    if len({gaps.steps.count for gaps in passes}) == 1:
        longest_s = max(map(min, *steps_s))
    return Longest(longest_s * 1e3, min(gaps.slices.longest_s for gaps in passes) * 1e3)
