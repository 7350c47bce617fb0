"""What the load test would find, made up: a little of everything."""

from typing import Any

from benchmarks.load.cases import NETWORKS, Case, all_cases
from benchmarks.load.histogram import CURVE_PERCENTS
from benchmarks.load.measurement import Measurement, Results
from benchmarks.load.options import DEFAULT_MONITORS

CURVE = [[percent, 0.1 + percent / 50] for percent in CURVE_PERCENTS]


def lag(worst_ms: float) -> dict[str, Any]:
    return {"p50_ms": 0.2, "p99_ms": 1.5, "worst_ms": worst_ms, "ticks": 9000, "curve": CURVE}


def measured(case: Case, **changed: Any) -> Measurement:
    """A measurement of a case in which everything is well, but for what is given otherwise."""
    episodes = case.episodes or 500
    seconds = [float(number) for number in range(40)]
    found: dict[str, Any] = {
        "episodes": episodes,
        "bytes": 8_000_000 * episodes,
        "seconds": 40.0,
        "logged_s": 35.0,
        "cpu_s": 50.0,
        "start_bytes": 400_000_000,
        "peak_bytes": 120_000_000,
        "lag": lag(6.0),
        "log": {"calls": episodes, "p50_us": 60.0, "p99_us": 110.0, "worst_us": 700.0},
        "log_cpu": {"calls": episodes, "p50_us": 50.0, "p99_us": 90.0, "worst_us": 300.0},
        "series": {
            "seconds": seconds,
            "lag_worst_ms": [0.5] * 39 + [6.0],
            "lag_total_ms": [30.0 * s for s in seconds],
            "resident_bytes": [400e6 + 1e6 * (s % 7) for s in seconds],
            "queued": [40.0 - s for s in seconds],
            "waiting": [90.0 - s for s in seconds],
            "taken": [100e6 * s for s in seconds],
            "done": [90e6 * s for s in seconds],
        },
        "rate": 90e6 if case.soak_s else None,
        "outcome": {
            "requests": None if case.network is None else 50,
            "retries": 3,
            "refusals": 1,
            "stored": None if case.network is None else episodes,
            "lost": 0,
            "failures": [],
        },
    }
    of_measurement = {name: changed.pop(name) for name in ("delivered", "doubled", "problem") if name in changed}
    return Measurement(
        case=case,
        found=found | changed,
        beside=lag(2.0),
        faults=[("reset", 3.0), ("kill", 20.5)] if case.soak_s else [],
        **{"delivered": episodes, **of_measurement},
    )


def made_up_results() -> Results:
    cases = all_cases(None, DEFAULT_MONITORS, NETWORKS, 3, 1200.0)
    cases.append(Case("upload", "shaped", 10_000))
    failed = Measurement(Case("wandb", None, 7), problem="it ended with 1: [nothing]")
    return Results([*map(measured, cases), failed], "a machine", "2026-01-02T03:04:05+00:00")
