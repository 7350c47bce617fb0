"""A process of its own that measures the memory of encoding one episode, and prints it as JSON.

    python benchmarks/memory_child.py WAY TARGET_BYTES

It is run as a file, so that it imports the installed packages and nothing of the benchmarks.
"""

import ctypes
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import orjson

from encoder import Episode
from encoder.synthetic import synthetic_episode
from encoder.trials import run_trials

CLEAR_PEAK = "5"


def main(way: str, target_bytes: int) -> None:
    """Measure and print."""
    works: dict[str, Callable[[Episode], int]] = {
        "plain": lambda episode: len(orjson.dumps(episode.to_record(), option=orjson.OPT_SERIALIZE_NUMPY)),
        "to_json": lambda episode: len(episode.to_json()),
        "iter_json": lambda episode: sum(map(len, episode.iter_json())),
    }
    work = works[way]
    work(synthetic_episode(1, num_nodes=20))  # plans, tables and imports belong to no episode
    empty = resident_bytes()
    episode = synthetic_episode(7, target_bytes=target_bytes)
    give_back()
    model_bytes = resident_bytes() - empty
    start = time.perf_counter()
    size, peak_bytes = peak_of_process(lambda: work(episode))
    seconds = time.perf_counter() - start
    # Anew, as what encoding leaves behind on a model, such as cached UTF-8, is left the first time.
    episode = synthetic_episode(7, target_bytes=target_bytes)
    _, traced_bytes = peak_of_python(lambda: work(episode))
    trials = run_trials(lambda: work(episode), 1, min_run_s=0)
    found = {
        "bytes": size,
        "model_bytes": model_bytes,
        "peak_bytes": peak_bytes,
        "traced_bytes": traced_bytes,
        "seconds": seconds,
        "runs": [list(run) for run in trials.runs],
        "idle_runs": [list(run) for run in trials.idle_runs],
    }
    print(json.dumps(found))


def give_back() -> None:
    """Give memory that is free within the process back to the system, so that using it again counts: glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def peak_of_process(work: Callable[[], int]) -> tuple[int, int | None]:
    """What the work returns, and by how much the process's resident memory grew at most; None where that is unknown."""
    before = resident_bytes()
    peak = Path("/proc/self/clear_refs")
    if not peak.exists():
        return work(), None
    peak.write_text(CLEAR_PEAK)
    size = work()
    return size, status_bytes("VmHWM") - before


def peak_of_python(work: Callable[[], int]) -> tuple[int, int]:
    """What the work returns, and by how much Python's and numpy's allocations grew at most."""
    tracemalloc.start()
    size = work()
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, peak_bytes


def resident_bytes() -> int:
    """The process's resident memory; 0 where it cannot be told."""
    return status_bytes("VmRSS")


def status_bytes(name: str) -> int:
    """A field of /proc/self/status."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    line = next(line for line in status.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
