"""The picture of the load test that the documentation shows: the plain way, and what is comparable with it."""

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.load.charts import css_class, lag_plot, memory_plot, middle_run, name, speed_plot, total_plot
from benchmarks.load.measurement import Measurement, Results, read_results
from benchmarks.pictures import picture

_MOST_ROWS: Final = 200
_HIGHEST: Final = frozenset({"lag_worst_ms", "resident_bytes"})
"""Columns of which the highest of several rows is shown; of the others the last."""
_COLUMNS: Final = ("seconds", "lag_worst_ms", "lag_total_ms", "resident_bytes", "done")


def kept_of(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is drawn of the load test's results; None if it says nothing about the plain way."""
    results = read_results(values)
    middle = [middle_run(runs) for runs in results.runs()]
    plain = next((run for run in middle if run.case.monitors == "plain"), None)
    if plain is None:
        return None
    networks = (None, plain.case.network)
    shown = [run for run in middle if run.case.episodes == plain.case.episodes and run.case.network in networks]
    kept = Results([_kept(run) for run in shown if not run.case.soak_s], results.machine, results.date)
    return kept.to_dict()


def load_picture(kept: Mapping[str, Any]) -> str:
    """The SVG file."""
    results = read_results(kept)
    shown = results.measurements
    title = "What an event loop feels of uploading and of writing files, beside the plain way"
    drawings = [lag_plot(shown), total_plot(shown), speed_plot(shown), memory_plot(shown)]
    legend = [(f"{name(run)}, {run.case.episodes:,} episodes", css_class(run)) for run in shown]
    return picture(title, drawings, legend, f"{results.date[:10]}, {results.machine}")


def _kept(run: Measurement) -> Measurement:
    series = run.found["series"]
    rows = -(-len(series["seconds"]) // _MOST_ROWS)
    thinned = {column: _thinned(series[column], rows, max if column in _HIGHEST else _last) for column in _COLUMNS}
    found = {column: run.found[column] for column in ("seconds", "start_bytes")}
    return Measurement(run.case, found | {"lag": {"worst_ms": run.found["lag"]["worst_ms"]}, "series": thinned})


def _thinned(values: list[float], rows: int, merge: Any) -> list[float]:
    return [float(f"{merge(values[start : start + rows]):.5g}") for start in range(0, len(values), rows)]


def _last(values: list[float]) -> float:
    return values[-1]
