"""Run a piece of work under pytest-benchmark, and note its stalls and CPU ratios in `extra_info`."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from benchmarks.ways import count
from encoder.probe import percentile
from encoder.trials import MIN_RUN_S, Lags, Trial, Trials, Work, run_trials

_CURVE_PERCENTS: Final = (0, *range(1, 100), *(99 + tenth / 10 for tenth in range(1, 10)), 99.95, 99.99, 100)


class Benchmark(Protocol):
    """What is used of pytest-benchmark's fixture."""

    group: str | None
    extra_info: dict[str, Any]
    stats: Any

    def pedantic(
        self,
        target: Callable[[], object],
        *,
        setup: Callable[[], None] | None = None,
        rounds: int = 1,
        warmup_rounds: int = 0,
    ) -> object: ...


_measured_s = 0.0


def measured_s() -> float:
    """A timer for pytest-benchmark: it moves on by what each probed run took, without the probe around it."""
    return _measured_s


def advance(seconds: float) -> None:
    """Move that timer on."""
    global _measured_s
    _measured_s += seconds


def probed(
    benchmark: Benchmark,
    work: Work,
    runs: int,
    *,
    min_run_s: float = MIN_RUN_S,
    on_run: Callable[[int], None] = lambda number: None,
) -> Trials:
    """Benchmark a piece of work beside a probed loop, and note its stalls.

    Before each run the loop is probed idle, and beside a thread that only counts and gives way as the encoder does:
    what the machine's other work does to that, it does to the encoder.

    The benchmark's timer must be `measured_s`.
    """
    trial = Trial(work, min_run_s=min_run_s)
    control = Trial(count, min_run_s=0)

    def controls() -> None:
        on_run(len(trial.trials.runs) + 1)
        trial.run_idle()
        control.run()

    def run() -> None:
        advance(trial.run())

    benchmark.pedantic(run, setup=controls, rounds=runs)
    note_stalls(benchmark, trial.trials)
    stall = control.trials.stall
    benchmark.extra_info |= {"control_p99_ms": round(stall.p99_ms, 4), "control_worst_ms": round(stall.worst_ms, 4)}
    return trial.trials


def note_stalls(benchmark: Benchmark, trials: Trials) -> None:
    """Write the stall figures of some trials, and those of the idle loop beside them, into `extra_info`."""
    stall, idle = trials.stall, trials.idle_stall
    benchmark.extra_info |= {
        "p50_ms": round(stall.p50_ms, 4),
        "p99_ms": round(stall.p99_ms, 4),
        "worst_ms": round(stall.worst_ms, 4),
        "ticks": stall.ticks,
        "curve": curve(trials.runs),
        "worst_of_runs_ms": [round(max(run), 4) for run in trials.runs],
        "seconds": statistics.median(trials.seconds),
        "idle_p50_ms": round(idle.p50_ms, 4),
        "idle_p99_ms": round(idle.p99_ms, 4),
        "idle_worst_ms": round(idle.worst_ms, 4),
        "idle_curve": curve(trials.idle_runs),
    }


def curve(runs: Sequence[Lags]) -> list[tuple[float, float]]:
    """Return the cumulative distribution of all runs' lags: percents, and the lag in ms that so many do not exceed."""
    lags = sorted(lag for run in runs for lag in run)
    return [(percent, round(percentile(lags, percent), 4)) for percent in _CURVE_PERCENTS]


def side_by_side(
    benchmark: Benchmark,
    ours: Callable[[], object],
    others: Mapping[str, Callable[[], object]],
    rounds: int,
) -> None:
    """Benchmark our CPU time with the others' taken before each round, and note the medians of the ratios.

    The benchmark's timer must be `time.thread_time`.
    """
    seconds: dict[str, list[float]] = {name: [] for name in others}

    def take_others() -> None:
        for name, work in others.items():
            start = time.thread_time()
            result = work()
            seconds[name].append(time.thread_time() - start)
            del result

    benchmark.pedantic(ours, setup=take_others, rounds=rounds, warmup_rounds=1)
    ours_s: list[float] = list(benchmark.stats.stats.data)
    cpu: dict[str, float] = {"to_json": statistics.median(ours_s)}
    ratios: dict[str, float] = {}
    for name, taken in seconds.items():
        del taken[0]  # the warm-up's
        cpu[name] = statistics.median(taken)
        ratios[name] = statistics.median(mine / other for mine, other in zip(ours_s, taken, strict=True))
    benchmark.extra_info |= {"cpu_s": cpu, "ratios": ratios}
    note_stalls(benchmark, run_trials(ours, 3))


def facts(benchmark: Benchmark, kind: str, group: str, **others: Any) -> None:
    """Say what a benchmark is about."""
    benchmark.group = group
    benchmark.extra_info |= {"kind": kind, **others}
