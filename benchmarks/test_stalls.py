"""Stalls of an event loop while an episode is encoded, in another thread or, by aiter_json, on the loop itself."""

import functools
from collections.abc import Callable

import pytest

from benchmarks.measuring import Benchmark, facts, measured_s, probed
from benchmarks.progress import Progress
from benchmarks.settings import Settings
from benchmarks.ways import WAYS, ways
from encoder import Episode
from encoder.gaps import longest_gaps

pytestmark = pytest.mark.benchmark(timer=measured_s)


@pytest.mark.parametrize("way", WAYS)
def test_stall(
    benchmark: Benchmark,
    episode_of: Callable[[float, int], Episode],
    size_mb: float,
    tokens: int,
    way: str,
    settings: Settings,
    progress: Progress,
) -> None:
    name = f"{size_mb:g} MB, {tokens} tokens a node"
    facts(benchmark, "stall", f"stalls, {name}", way=way, size_mb=size_mb, tokens=tokens)
    runs = settings.runs_of(way)
    say = functools.partial(_say, progress, f"stalls of {way}: {name}", runs)
    episode = episode_of(size_mb, tokens)
    probed(benchmark, ways(episode)[way], runs, on_run=say)
    if way == "to_json":
        benchmark.extra_info["longest_step_ms"] = round(longest_gaps(episode.to_json).step_ms, 4)


def _say(progress: Progress, name: str, runs: int, number: int) -> None:
    progress(f"{name}, run {number} of {runs}")
