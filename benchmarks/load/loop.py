"""The event loop of an orchestrator: rollouts that do next to nothing, a tick, a sample now and then, and the logging.

What is done here for the measurement alone is cheap: 2 µs a tick, and some 100 µs ten times a second.
"""

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from benchmarks.load.heap import frozen_heap
from benchmarks.load.histogram import Histogram
from benchmarks.load.pace import Pace
from benchmarks.load.protocol import Depth, Target
from benchmarks.load.rollouts import STEP_EPISODES, Rollouts
from benchmarks.load.series import Merge, Series, last
from benchmarks.load.waiting import rollouts_under_way
from benchmarks.memory_child import resident_bytes

TICK_S: Final = 0.001
SAMPLE_S: Final = 0.1
MOST_QUEUED: Final = 256
"""No more rollouts end while so many episodes wait: an orchestrator is some steps ahead of its training, not all."""

_ROOM_S: Final = 0.01
_MERGES: Final[dict[str, Merge]] = {
    "seconds": last,
    "lag_worst_ms": max,
    "lag_total_ms": last,
    "resident_bytes": max,
    "queued": max,
    "waiting": max,
    "taken": last,
    "done": last,
}


class Loop:
    """What goes on on the loop; inside of an `async with` block the rollouts are under way, and ticks are taken.

    Args:
        rollouts: the episodes.
        target: what they are logged to.
        tell: called with how many episodes are delivered, twice a second.

    Attributes:
        lags: how late ticks came, in milliseconds.
        logs: how long each call of `log` took, in microseconds.
        log_cpu: the CPU time of this thread meanwhile, in microseconds.
        series: everything over time.
        logged: how many episodes were logged.
        depth: what the last sample saw.
    """

    def __init__(self, rollouts: Rollouts, target: Target, tell: Callable[[int], object]) -> None:
        self._rollouts = rollouts
        self._target = target
        self._tell = tell
        self._logged_at_sample = 0
        self._samples = self.num_turns = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._under_way = rollouts_under_way(self._count_turn)
        self._heap = frozen_heap()
        self.logged = 0
        self.depth = Depth()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all figures; time begins now."""
        self.lags, self.logs, self.log_cpu = Histogram(), Histogram(), Histogram()
        self.series = Series(_MERGES)
        self._worst_ms = 0.0
        self._start_s = time.perf_counter()

    @property
    def seconds(self) -> float:
        """The time since the beginning."""
        return time.perf_counter() - self._start_s

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(work) for work in (self._tick(), self._sample_now_and_then())]
        await self._under_way.__aenter__()
        await self._heap.__aenter__()
        await asyncio.sleep(10 * TICK_S)  # the probe ticks before the work starts
        self.begin_anew()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.sample()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._heap.__aexit__(None, None, None)
        await self._under_way.__aexit__(None, None, None)

    async def _tick(self) -> None:
        last_s = time.perf_counter()
        while True:
            await asyncio.sleep(TICK_S)
            now_s = time.perf_counter()
            lag_ms = (now_s - last_s - TICK_S) * 1e3
            last_s = now_s
            self.lags.add(lag_ms)
            if lag_ms > self._worst_ms:
                self._worst_ms = lag_ms

    def _count_turn(self) -> None:
        self.num_turns += 1

    async def _sample_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_S)
            self.sample()

    def sample(self) -> None:
        """Note everything of this moment."""
        self.depth = depth = self._target.depth()
        self._logged_at_sample = self.logged
        self.series.add(
            {
                "seconds": self.seconds,
                "lag_worst_ms": self._worst_ms,
                "lag_total_ms": self.lags.total,
                "resident_bytes": resident_bytes(),
                "queued": depth.queued,
                "waiting": self.waiting,
                "taken": self._rollouts.bytes_before(depth.taken),
                "done": self.done_bytes,
            }
        )
        self._worst_ms = 0.0
        self._samples += 1
        if not self._samples % 5:
            self._tell(depth.done)

    async def log_episodes(
        self, bytes_per_s: float | None, is_over: Callable[[], bool], is_full: Callable[[], bool] | None = None
    ) -> None:
        """Log one after the other, and a row of metrics after each step.

        Args:
            bytes_per_s: how fast they come, as JSON; None for as fast as there is room.
            is_over: whether to end, asked before each.
            is_full: whether to wait, asked before each; by default while too many are queued.
        """
        is_full = is_full or (lambda: self.queued >= MOST_QUEUED)
        pace = Pace(bytes_per_s, time.perf_counter())
        while not is_over():
            if is_full():
                await asyncio.sleep(_ROOM_S)
                continue
            number = self.logged
            await asyncio.sleep(pace.wait_s(self._rollouts.size(number), time.perf_counter()))
            step = number // STEP_EPISODES
            await self._log(self._rollouts.episode(number), step)
            self.logged += 1
            if not self.logged % STEP_EPISODES:
                await self._log(metrics(step), step)

    @property
    def queued(self) -> int:
        """How many episodes nobody has taken up yet, as far as is known."""
        return self.depth.queued + self.logged - self._logged_at_sample

    @property
    def waiting(self) -> int:
        """How many episodes are not delivered, as far as is known."""
        return self.logged - self.depth.done

    @property
    def done_bytes(self) -> int:
        """How much JSON is delivered, as far as is known."""
        return self._rollouts.bytes_before(self.depth.done)

    async def _log(self, data: Any, step: int) -> None:
        start_s, start_cpu_s = time.perf_counter(), time.thread_time()
        await self._target.log(data, step)
        seconds, cpu_s = time.perf_counter() - start_s, time.thread_time() - start_cpu_s
        self.logs.add(seconds * 1e6)
        self.log_cpu.add(cpu_s * 1e6)


def metrics(step: int) -> dict[str, float]:
    """A row of metrics as a training step has them."""
    names = ("loss", "entropy", "reward/mean", "reward/std", "length/mean", "length/max", "time/step", "time/rollout")
    return {name: step + position / 7 for position, name in enumerate(names)}
