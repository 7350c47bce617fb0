"""Measure how late the ticks of an asyncio loop come while something else works: the stall that its users feel.

    async with LoopProbe() as probe:
        body = await asyncio.to_thread(episode.to_json)
    print(figures([probe.lags_ms]))

Two rules keep a probe honest:

1. It ticks before the work starts, and takes gaps between consecutive ticks. A probe that starts its clock once the
   thread runs misses a hold of the GIL that covers the whole call.
2. What the work made stays alive until the probe has stopped (above, `body` does): letting go of a long `bytes` holds
   the GIL too, and is its owner's.
"""

import asyncio
import statistics
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

TICK_S: Final = 0.001
"""How often the probe asks to be woken."""

_WARM_UP_TICKS: Final = 10


@dataclass(frozen=True, slots=True)
class StallFigures:
    """How late ticks came, in milliseconds.

    Attributes:
        p50_ms: the median, over the ticks of all runs.
        p99_ms: the 99th percentile, over the ticks of all runs.
        worst_ms: the median over the runs of each run's worst; a single worst says more about the machine.
        ticks: how many were taken.
    """

    p50_ms: float
    p99_ms: float
    worst_ms: float
    ticks: int


class LoopProbe:
    """Ticks on the running loop inside an `async with` block.

    Args:
        tick_s: how often it asks to be woken.
        clock: seconds that only ever grow.
    """

    def __init__(self, tick_s: float = TICK_S, clock: Callable[[], float] = time.perf_counter) -> None:
        self._tick_s = tick_s
        self._clock = clock
        self._lags_ms = array("d")
        self._first = 0
        self._warm = asyncio.Event()
        self._stopped = False
        self._task: asyncio.Task[None]

    @property
    def lags_ms(self) -> "array[float]":
        """How many milliseconds later than asked each tick came, the one under way at the start included."""
        return self._lags_ms[self._first :]

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._tick())
        await self._warm.wait()
        self._first = len(self._lags_ms)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = True
        await self._task

    async def _tick(self) -> None:
        last = self._clock()
        while not self._stopped:
            await asyncio.sleep(self._tick_s)
            now = self._clock()
            self._lags_ms.append(max(0.0, (now - last - self._tick_s) * 1e3))
            last = now
            if len(self._lags_ms) == _WARM_UP_TICKS:
                self._warm.set()


def figures(runs: Sequence[Sequence[float]]) -> StallFigures:
    """Sum up the lags of one run or several.

    Args:
        runs: for each run its lags, in milliseconds.

    Raises:
        ValueError: there is no run, or one without a tick.
    """
    if not runs or not all(len(lags) for lags in runs):
        raise ValueError("each run needs at least one tick")
    lags = sorted(lag for run in runs for lag in run)
    return StallFigures(
        p50_ms=percentile(lags, 50),
        p99_ms=percentile(lags, 99),
        worst_ms=statistics.median(max(run) for run in runs),
        ticks=len(lags),
    )


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the smallest of some ordered values that `percent` of them do not exceed (the nearest rank).

    Raises:
        ValueError: there are no values, or `percent` is not between 0 and 100.
    """
    if not ordered or not 0 <= percent <= 100:
        raise ValueError("a percentile needs values, and a percent between 0 and 100")
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
