"""CPU time of to_json beside the plain way, node at a time, and orjson alone on the dict built beforehand."""

import time
from collections.abc import Callable

import pytest

from benchmarks.measuring import Benchmark, facts, side_by_side
from benchmarks.progress import Progress
from benchmarks.settings import Settings
from benchmarks.ways import dumps, node_at_a_time, plain
from encoder import Episode

pytestmark = pytest.mark.benchmark(timer=time.thread_time)


def test_cpu(
    benchmark: Benchmark,
    episode_of: Callable[[float, int], Episode],
    size_mb: float,
    tokens: int,
    settings: Settings,
    progress: Progress,
) -> None:
    progress(f"CPU time: {size_mb:g} MB, {tokens} tokens a node")
    episode = episode_of(size_mb, tokens)
    record = episode.to_record()
    facts(benchmark, "cpu", f"CPU, {tokens} tokens a node", size_mb=size_mb, tokens=tokens, bytes=len(dumps(record)))
    others = {
        "plain": lambda: plain(episode),
        "orjson alone": lambda: dumps(record),
        "node at a time": lambda: node_at_a_time(episode),
    }
    side_by_side(benchmark, episode.to_json, others, settings.rounds(size_mb))
