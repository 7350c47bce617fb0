"""The plots about whole runs."""

from typing import Final

from benchmarks.results import Results, Row
from benchmarks.run_bounds import RUN_MEMORY_LIMIT_MB, SUBMIT_WORST_LIMIT_US, THROUGHPUT_LIMITS
from benchmarks.scales import Linear, Log, around
from benchmarks.sides import PRIME_RUNS, UNSTALL
from benchmarks.svg import Mark, row_chart

_CLASSES: Final = {UNSTALL: "way-to-json", PRIME_RUNS: "way-plain", "node at a time": "way-node-at-a-time"}

LEGEND: Final = tuple(_CLASSES.items())


def run_plots(results: Results) -> list[str]:
    """What is kept of the records, the longest submit, the memory, and the speed."""
    runs = results.of("run")
    drawings = []
    if runs:
        drawings = [_kept(runs), _submits(runs)]
        if all(row.info["peak_bytes"] is not None for row in runs):
            drawings.append(_memory(runs))
    return drawings + [speed_plot(row) for row in results.of("throughput")]


def _name(row: Row) -> str:
    return f"{row.info['scenario']}: {row.info['side']}"


def _kept(runs: list[Row]) -> str:
    shown = []
    for row in runs:
        kept = 100 * (1 - row.info["lost"] / row.info["episodes"])
        shown.append((_name(row), [Mark("bar", kept, _CLASSES[row.info["side"]], f"{kept:.0f} %")]))
    return row_chart("stored, or on disk", shown, Linear(105.0), "% of the episodes")


def _submits(runs: list[Row]) -> str:
    shown = [
        (
            _name(row),
            [
                Mark("limit", SUBMIT_WORST_LIMIT_US / 1e3, "", f"limit {SUBMIT_WORST_LIMIT_US / 1e3:g} ms"),
                *(
                    Mark("dot", row.info[name] / 1e3, _CLASSES[row.info["side"]], f"{row.info[name] / 1e3:.2f} ms")
                    for name in ("p99_us", "worst_us")
                ),
            ],
        )
        for row in runs
    ]
    low, high = around([mark.value for _, marks in shown for mark in marks])
    return row_chart("submit: p99 and worst", shown, Log(low, high), "ms")


def _memory(runs: list[Row]) -> str:
    shown = []
    for row in runs:
        peak_mb = row.info["peak_bytes"] / 1e6
        bar = Mark("bar", peak_mb, _CLASSES[row.info["side"]], f"{peak_mb:.0f}")
        shown.append((_name(row), [bar, Mark("limit", RUN_MEMORY_LIMIT_MB, "", f"limit {RUN_MEMORY_LIMIT_MB:g} MB")]))
    most = max(mark.value for _, marks in shown for mark in marks)
    return row_chart("peak memory above the start", shown, Linear(most * 1.05), "MB")


def speed_plot(row: Row) -> str:
    """How fast episodes get from submit to the service."""
    ours = row.info["mb_per_s"][UNSTALL]
    shown = []
    for way, speed in row.info["mb_per_s"].items():
        marks = [Mark("bar", speed, _CLASSES[way], f"{speed:.0f}")]
        if way in THROUGHPUT_LIMITS:
            most = ours / THROUGHPUT_LIMITS[way]
            marks.append(Mark("limit", most, "", f"unstall is {THROUGHPUT_LIMITS[way]:g} times as fast as {most:.0f}"))
        shown.append((way, marks))
    return row_chart("from submit to the service", shown, Linear(ours * 1.05), "MB/s of JSON")
