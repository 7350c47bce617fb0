"""A process of its own that logs episodes of production sizes with one uploader, and prints how that went as JSON.

    python benchmarks/logging_child.py SIDE SCENARIO EPISODES CLOSE_TIMEOUT_S

It is run as a file; installed packages win over this checkout's.
"""

import gc
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks.memory_child import CLEAR_PEAK, give_back, resident_bytes, status_bytes
from benchmarks.production import episodes, production_sizes, shared_episodes
from benchmarks.scenarios import SCENARIOS, Scenario
from benchmarks.services import BYTES_PER_S, LATENCY_S, SimulatedService
from benchmarks.sides import Side, new_side
from encoder import Episode
from encoder.probe import percentile

MEMORY_SHARE = 0.75
COUNTED = 3000
"""Some 50 microseconds."""
WHOLE = 1000
"""So many episodes are the whole size; of fewer, the queues hold accordingly fewer."""


def main(side: str, scenario: Scenario, count: int, close_timeout_s: float) -> None:
    """Log, close, and print."""
    logging.disable(logging.WARNING)
    limit_memory()
    sizes = production_sizes(count)
    shared = shared_episodes()
    lines = {size: len(episode.to_json()) for size, episode in shared.items()}
    service = SimulatedService(LATENCY_S, BYTES_PER_S, stalls=scenario.stalls)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as spool:
        worker = new_side(side, service, Path(spool), scale=count / WHOLE)
        gc.collect()
        gc.freeze()
        give_back()
        before = clear_peak()
        start_s = time.perf_counter()
        taken, control_us = log(worker, sizes, lines, shared, scenario)
        logged_s = time.perf_counter() - start_s
        outcome = worker.close(close_timeout_s)
        found = {
            **asdict(outcome),
            "episodes": count,
            "bytes": sum(lines[size] for size in sizes),
            "requests": service.requests,
            "logged_s": logged_s,
            "seconds": time.perf_counter() - start_s,
            **figures("", [wall for wall, _ in taken]),
            **figures("cpu_", [cpu for _, cpu in taken]),
            **figures("control_", control_us),
            "peak_bytes": status_bytes("VmHWM") - before if before else None,
        }
    print(json.dumps(found), flush=True)
    os._exit(0)  # prime-runs may still be at it


def log(
    worker: Side, sizes: list[int], lines: dict[int, int], shared: dict[int, Episode], scenario: Scenario
) -> tuple[list[tuple[float, float]], list[float]]:
    """Submit all, at the scenario's pace.

    Returns:
        The microseconds and CPU microseconds that each call took; and the microseconds of as many that only count, made
        in between: what the machine's other work does to them, it does to `submit`.
    """
    taken: list[tuple[float, float]] = []
    control_us: list[float] = []
    due_s = time.perf_counter()
    for size, episode in zip(sizes, episodes(sizes, shared), strict=True):
        control_us.append(timed_us(count_up, None)[0])
        taken.append(timed_us(worker.submit, [episode]))
        if scenario.bytes_per_s is not None:
            due_s += lines[size] / scenario.bytes_per_s
            time.sleep(max(0.0, due_s - time.perf_counter()))
    return taken, control_us


def timed_us(call: Callable[[Any], object], argument: Any) -> tuple[float, float]:
    """How long one call takes, by the clock and of its thread's CPU time."""
    start_s, start_cpu_s = time.perf_counter(), time.thread_time()
    call(argument)
    return 1e6 * (time.perf_counter() - start_s), 1e6 * (time.thread_time() - start_cpu_s)


def count_up(_: object) -> None:
    """Count for about as long as a `submit` takes."""
    for _ in range(COUNTED):
        pass


def figures(prefix: str, values: list[float]) -> dict[str, float]:
    """Percentiles and the worst, in microseconds."""
    values = sorted(values)
    named = {"p50_us": percentile(values, 50), "p99_us": percentile(values, 99), "worst_us": values[-1]}
    return {f"{prefix}{name}": round(value, 1) for name, value in named.items()}


def clear_peak() -> int:
    """Let the peak of resident memory begin anew; what it is now, 0 where it cannot be told."""
    peak = Path("/proc/self/clear_refs")
    if not peak.exists():
        return 0
    peak.write_text(CLEAR_PEAK)
    return resident_bytes()


def limit_memory() -> None:
    """Let the process fail on its own before the machine does."""
    if sys.platform == "linux":
        import resource

        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (round(MEMORY_SHARE * physical),) * 2)


if __name__ == "__main__":
    main(sys.argv[1], SCENARIOS[sys.argv[2]], int(sys.argv[3]), float(sys.argv[4]))
