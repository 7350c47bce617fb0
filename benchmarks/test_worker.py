"""How long `submit` takes with many producers, and how fast a worker encodes and seals; nothing is sent."""

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from benchmarks.measuring import Benchmark, facts, measured_s, probed
from benchmarks.progress import Progress
from benchmarks.settings import Settings
from encoder import Episode
from encoder.probe import percentile
from encoder.synthetic import synthetic_episode
from uploader.models import LineFormat
from uploader.sealing import SealedBatch
from uploader.spool.batches import Folder, SpooledBatch
from uploader.spool.memory import MemoryFolder
from uploader.worker.core import Worker
from uploader.worker.settings import WorkerSettings

PRODUCERS: Final = 8
PAUSE_S: Final = 0.001
SUBMIT_S: Final = 4.0
EPISODES: Final = 24
EPISODE_BYTES: Final = 8_400_000
FLUSH_TIMEOUT_S: Final = 600.0


class Nowhere(MemoryFolder):
    """Lets every batch go as soon as it is sealed, and says that it is on disk."""

    def add(self, line_format: LineFormat, sealed: SealedBatch) -> SpooledBatch:
        spooled = super().add(line_format, sealed)
        self.set_aside(spooled, "")
        return replace(spooled, on_disk=True)


def new_worker() -> Worker:
    def folder() -> Folder:
        return Nowhere("bench", (), max_batches=1)

    return Worker(WorkerSettings(sinks=(), new_delivery=None, open_folder=folder, new_memory=folder, run_id="bench"))


@pytest.fixture(scope="module")
def episodes() -> list[Episode]:
    return [synthetic_episode(seed, target_bytes=EPISODE_BYTES) for seed in range(PRODUCERS)]


def taken_us(submit: Callable[[int], object], seconds: float) -> list[float]:
    """How long each call takes, of producers that pause after each."""
    taken_s: list[list[float]] = [[] for _ in range(PRODUCERS)]
    end_s = time.perf_counter() + seconds

    def produce(number: int) -> None:
        mine = taken_s[number]
        while (start_s := time.perf_counter()) < end_s:
            submit(number)
            mine.append(time.perf_counter() - start_s)
            time.sleep(PAUSE_S)

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(1e6 * each_s for its in taken_s for each_s in its)


def _small(number: int) -> Any:
    return {"producer": number}


@pytest.mark.parametrize("record", ["nothing", "small mappings", "episodes"])
def test_submit(
    benchmark: Benchmark, episodes: list[Episode], record: str, settings: Settings, progress: Progress
) -> None:
    """`nothing` is the loop alone: what the machine's other work does to it, it does to the others."""
    progress(f"submitting {record}")
    worker = new_worker()
    records: Sequence[Any] = episodes if record == "episodes" else [_small(number) for number in range(PRODUCERS)]
    if record == "nothing":
        submit: Callable[[int], object] = _small
    else:
        worker.submit(records[:1])
        worker.flush(FLUSH_TIMEOUT_S)  # the first one starts the threads

        def submit(number: int) -> object:
            return worker.submit([records[number]])

    runs: list[list[float]] = []
    benchmark.pedantic(lambda: runs.append(taken_us(submit, SUBMIT_S)), rounds=min(3, settings.runs))
    counts = worker.stats.counts
    facts(
        benchmark,
        "submit",
        "worker",
        record=record,
        calls=sum(map(len, runs)),
        refused=counts.dropped,
        p50_us=statistics.median(percentile(run, 50) for run in runs),
        p99_us=statistics.median(percentile(run, 99) for run in runs),
        worst_us=statistics.median(run[-1] for run in runs),
    )
    worker.close(0.0)


@pytest.mark.benchmark(timer=measured_s)
def test_encode_and_seal(benchmark: Benchmark, episodes: list[Episode], settings: Settings, progress: Progress) -> None:
    worker = new_worker()
    some = [episodes[number % PRODUCERS] for number in range(EPISODES)]

    def work() -> None:
        worker.submit(some)
        assert worker.flush(FLUSH_TIMEOUT_S)

    work()
    stats = worker.stats
    facts(
        benchmark,
        "seal_worker",
        "worker",
        bytes=stats.encoded_bytes,
        compressed_bytes=stats.sealed_bytes,
    )
    runs = min(3, settings.runs)
    probed(benchmark, work, runs, min_run_s=0.0, on_run=lambda number: progress(f"sealing: run {number} of {runs}"))
    worker.close(0.0)
