"""Try a piece of work several times beside a probed event loop, each time next to an idle one.

An idle loop shows stalls of its own, of milliseconds now and then, so a figure means nothing without the idle one
beside it, taken at the same time and for as long.
"""

import asyncio
import inspect
import math
import time
from array import array
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from encoder.probe import LoopProbe, StallFigures, figures

Work: TypeAlias = Callable[[], object] | Callable[[], Awaitable[object]]
"""A function, which runs in a thread beside the loop, or a coroutine function, which runs on the loop."""

Lags: TypeAlias = "array[float]"

MIN_RUN_S: Final = 0.2
"""Shorter work is repeated within a run, so that each run has some 200 ticks."""

_MAX_IDLE_S: Final = 0.5
_MAX_REPEATS: Final = 500


@dataclass(slots=True)
class Trials:
    """What some runs showed.

    Attributes:
        runs: for each run its lags in milliseconds.
        idle_runs: the same for the idle loop that was probed before each run.
        seconds: for each run, how long the work took, once.
    """

    runs: list[Lags] = field(default_factory=list)
    idle_runs: list[Lags] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def stall(self) -> StallFigures:
        """How late ticks came during the work."""
        return figures(self.runs)

    @property
    def idle_stall(self) -> StallFigures:
        """How late they came without any."""
        return figures(self.idle_runs)


class Trial:
    """One piece of work, ready to be tried.

    Args:
        work: what to run.
        min_run_s: how long a run lasts at least: shorter work is repeated. With 0 it is done once a run, and not
            warmed up.
    """

    def __init__(self, work: Work, *, min_run_s: float = MIN_RUN_S) -> None:
        self.trials = Trials()
        self._work = work
        self._repeats = 1
        self._run_s = min_run_s
        if min_run_s:
            once_s = asyncio.run(_probed(work, 1))[1]
            self._repeats = min(_MAX_REPEATS, max(1, math.ceil(min_run_s / max(once_s, 1e-9))))
            self._run_s = max(min_run_s, once_s)

    def run_idle(self) -> None:
        """Probe an idle loop for as long as a run lasts, at most half a second."""
        idle_s = min(_MAX_IDLE_S, self._run_s or _MAX_IDLE_S)
        lags, _ = asyncio.run(_probed(lambda: time.sleep(idle_s), 1))
        self.trials.idle_runs.append(lags)

    def run(self) -> float:
        """Probe the loop during one run; the seconds that the work took, once."""
        lags, seconds = asyncio.run(_probed(self._work, self._repeats))
        self.trials.runs.append(lags)
        self.trials.seconds.append(seconds)
        return seconds


def run_trials(
    work: Work, runs: int, *, min_run_s: float = MIN_RUN_S, on_run: Callable[[int], None] = lambda number: None
) -> Trials:
    """Try a piece of work several times, each time after an idle control.

    Args:
        work: a function or a coroutine function. What it returns stays alive until the run's probe has stopped.
        runs: how often.
        min_run_s: see `Trial`.
        on_run: called with each run's number, from 1, before it starts.

    Raises:
        Exception: whatever the work raises.
    """
    trial = Trial(work, min_run_s=min_run_s)
    for number in range(1, runs + 1):
        on_run(number)
        trial.run_idle()
        trial.run()
    return trial.trials


async def _probed(work: Work, repeats: int) -> tuple[Lags, float]:
    kept: list[object] = []
    async with LoopProbe() as probe:
        start = time.perf_counter()
        if inspect.iscoroutinefunction(work):
            for _ in range(repeats):
                kept.append(await work())  # noqa: PERF401 - one after the other
        else:
            await asyncio.to_thread(lambda: kept.extend(work() for _ in range(repeats)))
        seconds = time.perf_counter() - start
    lags = probe.lags_ms
    kept.clear()  # only now that the probe has stopped
    return lags, seconds / repeats
