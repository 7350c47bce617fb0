from typing import Any

from benchmarks.load.loop import MOST_QUEUED, Loop
from benchmarks.load.protocol import Depth, Outcome
from benchmarks.load.rollouts import STEP_EPISODES, Rollouts
from encoder import Episode
from encoder.synthetic import synthetic_episode

ROLLOUTS = Rollouts([synthetic_episode(1, num_nodes=2)], [0])


class Target:
    """Takes everything, and delivers some of it each time it is asked how far it is."""

    def __init__(self, at_once: int) -> None:
        self.episodes: list[str] = []
        self.steps: list[int] = []
        self.metrics: list[int] = []
        self.most_queued = 0
        self._at_once = at_once
        self._done = 0

    async def log(self, data: Any, step: int) -> None:
        if isinstance(data, Episode):
            self.episodes.append(data.id)
            self.steps.append(step)
        else:
            assert data["loss"] == step
            self.metrics.append(step)

    async def finalize(self) -> None: ...

    def depth(self) -> Depth:
        self.most_queued = max(self.most_queued, len(self.episodes) - self._done)
        self._done = min(len(self.episodes), self._done + self._at_once)
        return Depth(len(self.episodes) - self._done, self._done, self._done)

    def outcome(self) -> Outcome:
        return Outcome()


async def test_every_episode_is_logged_once_and_metrics_after_each_step() -> None:
    target = Target(10**9)
    count = 2 * STEP_EPISODES + 1
    async with Loop(ROLLOUTS, target, lambda done: None) as loop:
        await loop.log_episodes(None, lambda: loop.logged == count)
    assert target.episodes == [f"episode-{number}" for number in range(count)]
    assert target.steps == [number // STEP_EPISODES for number in range(count)]
    assert target.metrics == [0, 1]
    assert loop.logs.count == loop.log_cpu.count == count + 2
    assert loop.lags.count > 0
    columns = loop.series.columns()
    assert columns["done"][-1] == ROLLOUTS.bytes_before(count)
    assert columns["waiting"][-1] == 0
    assert {len(values) for values in columns.values()} == {len(columns["seconds"])}


async def test_no_more_are_logged_while_too_many_are_queued() -> None:
    target = Target(100)
    count = MOST_QUEUED + 150
    async with Loop(ROLLOUTS, target, lambda done: None) as loop:
        await loop.log_episodes(None, lambda: loop.logged == count)
    assert target.most_queued == MOST_QUEUED


async def test_rollouts_go_on_meanwhile_and_it_is_told_how_far_it_is() -> None:
    told: list[int] = []
    target = Target(10**9)
    pace = 20 * ROLLOUTS.size(0)  # 20 a second
    async with Loop(ROLLOUTS, target, told.append) as loop:
        await loop.log_episodes(pace, lambda: loop.logged == 21)
        assert loop.seconds >= 1.0
    assert loop.num_turns > 0
    assert told == sorted(told)
    assert told


async def test_beginning_anew_forgets_figures_and_keeps_what_was_logged() -> None:
    async with Loop(ROLLOUTS, Target(10**9), lambda done: None) as loop:
        await loop.log_episodes(None, lambda: loop.logged == 3)
        loop.begin_anew()
        assert loop.logs.count == loop.lags.count == 0
        await loop.log_episodes(None, lambda: loop.logged == 5)
    assert loop.logs.count == 2
