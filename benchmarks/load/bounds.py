"""What is to be reached."""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from benchmarks.load.cases import BOUNDED_EPISODES, SMALL_FROM
from benchmarks.load.measurement import Measurement, Results
from benchmarks.load.soak import Trend, trend
from benchmarks.verdicts import Verdict

LAG_P99_MS: Final = 3.0
LAG_WORST_MS: Final = 10.0
"""Of the median of the runs' worst."""
LOG_WORST_US: Final = 1000.0
LEAST_MB_PER_S: Final = 250.0
PEAK_MB: Final = 300.0
FLAT_MB: Final = 20.0
"""By so much the trend of a soak's memory may rise."""

_LAGGING: Final = (("upload", "none"), ("upload", "transport"), ("file", None), ("both", "none"))


def load_verdicts(results: Results) -> list[Verdict]:
    """One verdict for each bound about which something was measured.

    The bounds are meant for 1,000 episodes; they are looked at where the most were logged of those that were.
    """
    ours = [runs for runs in results.runs() if runs[0].case.monitors != "plain"]
    counted = [runs for runs in ours if not runs[0].case.soak_s]
    soaks = [runs[0] for runs in ours if runs[0].case.soak_s]
    found = [
        *_deliveries(counted),
        *_lags(_largest(counted)),
        _most("log(), worst", counted, _log_worst_us, LOG_WORST_US, " µs"),
        *_speeds(counted),
        _most("peak memory", [runs for runs in counted if runs[0].peak_mb is not None], _peak_mb, PEAK_MB, " MB"),
        *(verdict for soak in soaks for verdict in _soak(soak)),
    ]
    return [verdict for verdict in found if verdict is not None]


def soak_trend(soak: Measurement) -> Trend:
    """How a soak's memory went."""
    series = soak.found["series"]
    return trend(series["seconds"], series["resident_bytes"])


def _largest(groups: Sequence[list[Measurement]]) -> list[list[Measurement]]:
    """Of each kind the group with the most episodes up to 1,000, or else the one with the fewest."""
    found: dict[tuple[str, str | None], list[Measurement]] = {}
    for runs in sorted(groups, key=lambda runs: runs[0].case.episodes):
        case = runs[0].case
        if case.episodes <= BOUNDED_EPISODES:
            found[case.monitors, case.network] = runs
        else:
            found.setdefault((case.monitors, case.network), runs)
    return list(found.values())


def _deliveries(groups: Iterable[list[Measurement]]) -> Iterator[Verdict]:
    for runs in groups:
        case = runs[0].case
        if case.episodes not in (BOUNDED_EPISODES, SMALL_FROM):
            continue
        worst = min(runs, key=lambda run: run.delivered)
        what = f"delivered of {case.episodes:,}"
        excess = 0.0 if worst.delivered == case.episodes and not worst.doubled else math.inf
        yield Verdict(what, f"{case.episodes:,}", f"{worst.delivered:,}", _where(runs), excess)


def _lags(groups: Sequence[list[Measurement]]) -> Iterator[Verdict | None]:
    for runs in groups:
        case = runs[0].case
        if (case.monitors, case.network) in _LAGGING:
            name = case.monitors if case.network != "transport" else "upload, transport"
            p99_ms = statistics.median(run.found["lag"]["p99_ms"] for run in runs)
            worst_ms = statistics.median(run.found["lag"]["worst_ms"] for run in runs)
            idle = [statistics.median(run.beside[key] for run in runs) for key in ("p99_ms", "worst_ms")]
            where = f"{_where(runs)}, idle {idle[0]:.1f}/{idle[1]:.1f}"
            yield Verdict(f"lag p99, {name}", f"{LAG_P99_MS:g} ms", f"{p99_ms:.1f} ms", where, p99_ms / LAG_P99_MS)
            yield Verdict(
                f"lag worst, {name}", f"{LAG_WORST_MS:g} ms", f"{worst_ms:.1f} ms", where, worst_ms / LAG_WORST_MS
            )


def _speeds(groups: Iterable[list[Measurement]]) -> Iterator[Verdict]:
    for runs in _largest([runs for runs in groups if runs[0].case.network == "transport"]):
        speed = statistics.median(run.mb_per_s for run in runs)
        yield Verdict(
            "JSON, transport", f"≥ {LEAST_MB_PER_S:g} MB/s", f"{speed:.0f} MB/s", _where(runs), LEAST_MB_PER_S / speed
        )


def _soak(soak: Measurement) -> Iterator[Verdict]:
    growth_mb = soak_trend(soak).growth_bytes / 1e6
    said, logged = soak.found["outcome"]["stored"], soak.found["episodes"]
    where = f"{soak.case.name}, {len(soak.faults)} faults"
    yield Verdict("soak, lost", "0", f"{soak.lost:,}", where, _none(soak.lost))
    miscounted = abs(said - soak.delivered) + soak.doubled
    yield Verdict("soak, miscounted", "0", f"{miscounted:,}", f"{where}, {logged:,} logged", _none(miscounted))
    yield Verdict("soak, memory grows", f"{FLAT_MB:g} MB", f"{growth_mb:.1f} MB", where, max(0.0, growth_mb / FLAT_MB))


def _none(count: int) -> float:
    return math.inf if count else 0.0


def _log_worst_us(runs: Sequence[Measurement]) -> float:
    return max(float(run.found["log"]["worst_us"]) for run in runs)


def _peak_mb(runs: Sequence[Measurement]) -> float:
    return max(run.peak_mb or 0.0 for run in runs)


def _most(
    what: str,
    groups: Sequence[list[Measurement]],
    value_of: Callable[[list[Measurement]], float],
    limit: float,
    unit: str,
) -> Verdict | None:
    runs = max(groups, key=value_of, default=None)
    if runs is None:
        return None
    value = value_of(runs)
    return Verdict(what, f"{limit:g}{unit}", f"{value:.0f}{unit}", _where(runs), value / limit)


def _where(runs: Sequence[Measurement]) -> str:
    return runs[0].case.name + (f", {len(runs)} runs" if len(runs) > 1 else "")
