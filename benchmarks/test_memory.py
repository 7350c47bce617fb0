"""Peak memory of encoding an episode of 900 tokens a node, each way in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measuring import Benchmark, advance, facts, measured_s, note_stalls
from benchmarks.progress import Progress
from benchmarks.settings import Settings
from encoder.trials import Trials

pytestmark = pytest.mark.benchmark(timer=measured_s)

PLAIN_MB = 35.0
CHILD = Path(__file__).with_name("memory_child.py")


@pytest.mark.parametrize("way", ["plain", "to_json", "iter_json"])
def test_memory(benchmark: Benchmark, memory_size_mb: float, way: str, settings: Settings, progress: Progress) -> None:
    if way == "plain" and memory_size_mb > PLAIN_MB and not settings.large:
        pytest.skip("the plain way takes long under tracemalloc: with --large")
    progress(f"memory of {way}: {memory_size_mb:g} MB")
    found: dict[str, Any] = {}

    def run() -> None:
        command = [sys.executable, "-P", str(CHILD), way, str(round(memory_size_mb * 1e6))]
        found.update(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ).stdout))
        advance(found.pop("seconds"))

    benchmark.pedantic(run, rounds=1)
    runs, idle_runs = found.pop("runs"), found.pop("idle_runs")
    facts(benchmark, "memory", f"memory, {memory_size_mb:g} MB", way=way, size_mb=memory_size_mb, **found)
    note_stalls(benchmark, Trials(runs, idle_runs, [benchmark.stats.stats.median]))
