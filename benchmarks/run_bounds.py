"""What whole runs are to reach."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from benchmarks.results import Results, Row
from benchmarks.sides import PRIME_RUNS, UNSTALL
from benchmarks.verdicts import Verdict

SUBMIT_P99_LIMIT_US: Final = 50.0
SUBMIT_WORST_LIMIT_US: Final = 1000.0
RUN_MEMORY_LIMIT_MB: Final = 300.0
THROUGHPUT_LIMITS: Final = {PRIME_RUNS: 20.0, "node at a time": 5.0}
"""How many times as fast a run is to be, at least."""
GOODPUT_LIMIT: Final = 0.85
LEAST_LIMIT: Final = 0.25
"""What the slowest producer is to get, as a share of the mean: it does not starve. In half a minute chance decides
much; in minutes it gets over a half (`tests/uploader/delivery/test_producers.py`)."""


def run_verdicts(results: Results) -> Iterator[Verdict | None]:
    """One verdict for each bound about which something was measured."""
    submits = [row for row in results.of("submit") if row.info["record"] != "nothing"]
    runs = _ours(results, "run")
    yield _most("submit, p99", submits, lambda row: row.info["p99_us"], SUBMIT_P99_LIMIT_US, " µs")
    yield _most("submit, worst", submits, lambda row: row.info["worst_us"], SUBMIT_WORST_LIMIT_US, " µs")
    yield _none("runs, lost", runs, "lost")
    yield _most("runs, submit's worst", runs, lambda row: row.info["worst_us"], SUBMIT_WORST_LIMIT_US, " µs")
    peaks = [row for row in runs if row.info["peak_bytes"] is not None]
    yield _most("runs, memory", peaks, lambda row: row.info["peak_bytes"] / 1e6, RUN_MEMORY_LIMIT_MB, " MB")
    for row in results.of("throughput"):
        for other, least in THROUGHPUT_LIMITS.items():
            ratio = row.info["ratios"][other]
            yield Verdict(f"runs, × {other}", f"≥ {least:g}", f"{ratio:.1f}", "", least / ratio)
    poisoned = _ours(results, "poison")
    yield _none("one rejected, lost", poisoned, "lost")
    yield _most("one rejected, set aside", poisoned, lambda row: row.info["set_aside"], 1.0)
    yield _most("one rejected, miscounted", poisoned, miscounted, 0.0)
    for what in ("lost", "doubled", "unexplained"):
        yield _none(f"SIGKILL, {what}", _ours(results, "kills"), what)
    yield _none("outage, lost", _ours(results, "outage"), "lost")
    for row in results.of("contention"):
        where = f"{row.info['producers']} producers, {row.info['slots']} slots, {row.info['sent_s']:.0f} s"
        for what, name, least in (("goodput", "goodput", GOODPUT_LIMIT), ("slowest / mean", "least", LEAST_LIMIT)):
            share = row.info[name]
            excess = least / share if share else math.inf
            yield Verdict(f"producers, {what}", f"≥ {least:g}", f"{share:.2f}", where, excess)


def miscounted(row: Row) -> float:
    """By how many records the uploader's own counts differ from what the service really has."""
    return abs(float(row.info["stored"] - row.info["said_to_be_stored"]))


def _ours(results: Results, kind: str) -> list[Row]:
    return [row for row in results.of(kind) if row.info["side"] == UNSTALL]


def _none(what: str, rows: Sequence[Row], name: str) -> Verdict | None:
    """There must be none of something."""
    return _most(what, rows, lambda row: row.info[name], 0.0)


def _most(
    what: str, rows: Sequence[Row], value_of: Callable[[Row], float], limit: float, unit: str = ""
) -> Verdict | None:
    row = max(rows, key=value_of, default=None)
    if row is None:
        return None
    value = value_of(row)
    excess = value / limit if limit else math.inf if value else 0.0
    return Verdict(what, f"{limit:g}{unit}", f"{value:.0f}{unit}", _where(row), excess)


def _where(row: Row) -> str:
    info = row.info
    parts = [info.get("scenario"), info.get("record")]
    parts += [f"{info[name]:,} {name}" for name in ("episodes", "kills") if name in info]
    if "control_worst_us" in info:
        parts.append(f"control {info['control_worst_us']:.0f}")
    return ", ".join(part for part in parts if part)
