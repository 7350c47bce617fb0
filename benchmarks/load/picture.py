"""The picture of the load test that the documentation shows: what is comparable, and the plain way if it is there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.load.cases import BOUNDED_EPISODES
from benchmarks.load.charts import (
    css_class,
    distribution_plot,
    lag_plot,
    memory_plot,
    middle_run,
    name,
    speed_plot,
    total_plot,
    waiting_plot,
)
from benchmarks.load.measurement import Measurement, Results, read_results
from benchmarks.pictures import picture

_MOST_ROWS: Final = 200
_HIGHEST: Final = frozenset({"lag_worst_ms", "resident_bytes", "waiting"})
"""Columns of which the highest of several rows is shown; of the others the last."""
_COLUMNS: Final = ("seconds", "lag_worst_ms", "lag_total_ms", "resident_bytes", "done", "waiting")


def kept_of(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is drawn of the load test's results; None if there is nothing but soaks, or what failed.

    It is what is comparable: as many episodes, over the same network. Where the plain way was measured, that is what
    was measured as it was; else it is what has bounds, or what is nearest to that.
    """
    results = read_results(values)
    middle = [run for run in map(middle_run, results.runs()) if not run.case.soak_s]
    if not middle:
        return None
    first = next((run for run in middle if run.case.monitors == "plain"), None) or _nearest_to_bounds(middle)
    same = [run for run in middle if run.case.episodes == first.case.episodes]
    networks = (None, first.case.network or next((run.case.network for run in same if run.case.network), None))
    shown = [run for run in same if run.case.network in networks]
    return Results([_kept(run) for run in shown], results.machine, results.date).to_dict()


def _nearest_to_bounds(runs: Sequence[Measurement]) -> Measurement:
    """The first with the most episodes that are no more than those of the bounds, else with the fewest."""
    return min(runs, key=lambda run: (run.case.episodes > BOUNDED_EPISODES, abs(run.case.episodes - BOUNDED_EPISODES)))


def load_picture(kept: Mapping[str, Any]) -> str:
    """The SVG file."""
    results = read_results(kept)
    shown = results.measurements
    plots = (lag_plot, distribution_plot, total_plot, waiting_plot, speed_plot, memory_plot)
    legend = [(f"{name(run)}, {run.case.episodes:,} episodes", css_class(run)) for run in shown]
    origin = f"{results.date[:10]}, {results.machine}"
    if any(run.case.is_receiver_idle for run in shown):
        origin += ", the receiver with the CPU time alone that nobody else wants"
    return picture(_title(shown), [plot(shown) for plot in plots], legend, origin)


def _title(shown: Sequence[Measurement]) -> str:
    title = "What an event loop feels of logging episodes"
    return title + (", beside the plain way" if any(run.case.monitors == "plain" for run in shown) else "")


def _kept(run: Measurement) -> Measurement:
    series = run.found["series"]
    rows = -(-len(series["seconds"]) // _MOST_ROWS)
    thinned = {column: _thinned(series[column], rows, max if column in _HIGHEST else _last) for column in _COLUMNS}
    found = {column: run.found[column] for column in ("seconds", "start_bytes")}
    lag = {figure: run.found["lag"][figure] for figure in ("worst_ms", "curve")}
    return Measurement(run.case, found | {"lag": lag, "series": thinned}, {"curve": run.beside["curve"]})


def _thinned(values: list[float], rows: int, merge: Any) -> list[float]:
    return [float(f"{merge(values[start : start + rows]):.5g}") for start in range(0, len(values), rows)]


def _last(values: list[float]) -> float:
    return values[-1]
