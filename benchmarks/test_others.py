"""Models of others: CPU beside the plain way, and the stall beside the longest call of the model's own serializers."""

import time

import pytest

from benchmarks.measuring import Benchmark, facts, side_by_side
from benchmarks.others import LongestCall, models
from benchmarks.progress import Progress
from benchmarks.ways import dumps, plain

pytestmark = pytest.mark.benchmark(timer=time.thread_time)

ROUNDS = 9


@pytest.mark.parametrize("name", list(models()))
def test_model_of_others(benchmark: Benchmark, name: str, progress: Progress) -> None:
    progress(f"models of others: {name}")
    model = models()[name]()
    record = model.to_record()
    longest_s = min(LongestCall.during(lambda: plain(model)) for _ in range(3))
    facts(
        benchmark,
        "others",
        "models of others",
        model=name,
        bytes=len(dumps(record)),
        longest_call_ms=round(longest_s * 1e3, 4),
    )
    side_by_side(
        benchmark, model.to_json, {"plain": lambda: plain(model), "orjson alone": lambda: dumps(record)}, ROUNDS
    )
