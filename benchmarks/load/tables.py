"""The tables about the load test."""

import statistics
from collections.abc import Callable, Sequence

from benchmarks.cells import Table, milliseconds
from benchmarks.load.bounds import load_verdicts, soak_trend
from benchmarks.load.measurement import Measurement, Results


def load_tables(results: Results) -> list[Table]:
    """All tables that have rows."""
    made = (delivery_table(results), lag_table(results), soak_table(results), bound_table(results))
    return [table for table in made if table.rows]


def delivery_table(results: Results) -> Table:
    rows = []
    for runs in results.runs():
        requests = runs[0].found["outcome"]["requests"]
        peaks = [run.peak_mb for run in runs if run.peak_mb is not None]
        rows.append(
            [
                *_labels(runs),
                f"{min(run.delivered for run in runs):,}",
                f"{max(run.lost for run in runs):,}",
                f"{_median(runs, lambda run: run.found['seconds']):.1f}",
                f"{_median(runs, lambda run: run.mb_per_s):.0f}",
                f"{max(peaks):.0f}" if peaks else "",
                "" if requests is None else f"{_median(runs, lambda run: run.found['outcome']['requests']):.0f}",
                "" if requests is None else f"{max(map(_repeated, runs)):,}",
            ]
        )
    return Table(
        "Episodes of production sizes: what became of them",
        ("monitor", "network", "episodes", "delivered", "lost", "s", "MB/s", "MB", "requests", "retries"),
        rows,
        2,
        "s: from the first log() to the end of finalize(). MB/s of JSON. MB: peak memory above the start. retries: "
        "refused requests included. Medians of the runs; of what was lost, memory and retries the worst. 10,000 "
        "episodes are of 2.2 MB each.",
    )


def lag_table(results: Results) -> Table:
    rows = []
    for runs in results.runs():
        lags = [_median(runs, lambda run, key=key: run.found["lag"][key]) for key in _LAGS]  # type: ignore[misc]
        idle = [_median(runs, lambda run, key=key: run.beside[key]) for key in _LAGS[1:]]  # type: ignore[misc]
        rows.append(
            [
                *_labels(runs),
                f"{len(runs)}",
                "/".join(map(milliseconds, lags)),
                "/".join(map(milliseconds, idle)),
                _fine(_median(runs, lambda run: run.found["log"]["p50_us"])),
                _fine(_median(runs, lambda run: run.found["log"]["p99_us"])),
                _fine(max(run.found["log"]["worst_us"] for run in runs)),
                _fine(max(run.found["log_cpu"]["worst_us"] for run in runs)),
            ]
        )
    return Table(
        "What the event loop feels: lag of a 1 ms tick and log(), in ms",
        ("monitor", "network", "episodes", "runs", "p50/p99/worst", "idle", "log", "p99", "worst", "CPU"),
        rows,
        2,
        "Medians of the runs, of their worst ticks, too; the worst of all calls of log(), and the worst of their CPU "
        "time. idle: p99 and worst of a loop with as many rollouts that wait, in another process, at the same time.",
    )


def soak_table(results: Results) -> Table:
    rows = [
        [
            f"{soak.case.soak_s / 60:g}",
            f"{soak.found['rate'] / 1e6:.0f}",
            f"{soak.found['episodes']:,}",
            f"{soak.delivered:,}",
            f"{soak.lost:,}",
            f"{soak.doubled:,}",
            f"{len(soak.faults):,}",
            f"{_repeated(soak):,}",
            f"{soak_trend(soak).bytes_per_s * 3600 / 1e6:+.1f}",
            f"{soak_trend(soak).growth_bytes / 1e6:+.1f}",
        ]
        for runs in results.runs()
        for soak in runs
        if soak.case.soak_s
    ]
    return Table(
        "The soak: 70 % of the rate that it can hold, with faults",
        ("min", "100 %", "logged", "delivered", "lost", "doubled", "faults", "retries", "MB/h", "MB"),
        rows,
        0,
        "100 %: MB/s of JSON that were delivered while nothing failed. MB/h: the slope of the resident memory; MB: "
        "what that comes to over the soak.",
    )


def bound_table(results: Results) -> Table:
    rows = [
        [verdict.what, verdict.where, verdict.limit, verdict.value, "yes" if verdict.is_met else "NO"]
        for verdict in load_verdicts(results)
    ]
    return Table("What is to be reached", ("bound", "where", "limit", "measured", "met"), rows, 2)


_LAGS = ("p50_ms", "p99_ms", "worst_ms")


def _labels(runs: Sequence[Measurement]) -> list[str]:
    case = runs[0].case
    monitors = "soak" if case.soak_s else case.monitors
    idle = ", idle" if case.is_receiver_idle else ""
    network = "faults" if case.soak_s else (case.network or "") + idle
    return [monitors, network, f"{runs[0].found['episodes']:,}"]


def _repeated(run: Measurement) -> int:
    outcome = run.found["outcome"]
    return int(outcome["retries"] + outcome["refusals"])


def _fine(microseconds: float) -> str:
    """As milliseconds, to two decimals where there are few."""
    return f"{microseconds / 1e3:.2f}" if microseconds < 9_995 else milliseconds(microseconds / 1e3)


def _median(runs: Sequence[Measurement], value_of: Callable[[Measurement], float]) -> float:
    return statistics.median(map(value_of, runs))
