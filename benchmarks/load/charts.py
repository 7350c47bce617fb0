"""The plots about the load test."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks.load.bounds import LAG_P99_MS, LAG_WORST_MS, PEAK_MB
from benchmarks.load.measurement import Measurement
from benchmarks.scales import Linear, Log, Nines, Scale
from benchmarks.svg import Chart

Points = list[tuple[float, float]]

_SMOOTHED_S: Final = 2.0
_LEAST_LAG_MS: Final = 0.01
_WIDE: Final = 520.0


def css_class(run: Measurement) -> str:
    """The style sheet's class of what was measured."""
    case = run.case
    return f"load-{case.monitors}" + (f"-{case.network}" if case.network not in (None, "none") else "")


def name(run: Measurement) -> str:
    """What it is called in legends."""
    case = run.case
    return case.monitors + (f", {case.network}" if case.network not in (None, "none") else "")


def middle_run(runs: Sequence[Measurement]) -> Measurement:
    """The run whose worst lag is the median."""
    ordered = sorted(runs, key=lambda run: float(run.found["lag"]["worst_ms"]))
    return ordered[(len(ordered) - 1) // 2]


def load_plots(shown: Sequence[Measurement]) -> list[str]:
    """Everything over time, of some runs beside one another."""
    if not shown:
        return []
    return [
        lag_plot(shown),
        distribution_plot(shown),
        total_plot(shown),
        speed_plot(shown),
        memory_plot(shown),
        *_depths(shown),
    ]


def soak_plots(soak: Measurement) -> list[str]:
    """The same of a soak; marks at the bottom are the faults."""
    return [
        lag_plot([soak]),
        distribution_plot([soak]),
        total_plot([soak]),
        speed_plot([soak]),
        memory_plot([soak]),
        *_depths([soak]),
    ]


def lag_plot(shown: Sequence[Measurement]) -> str:
    """The worst lag of each moment."""
    lines = [_points(run, "lag_worst_ms") for run in shown]
    lines = [[(seconds, max(value, _LEAST_LAG_MS)) for seconds, value in line] for line in lines]
    most = max(100.0, max((value for line in lines for _, value in line), default=1.0))
    scale = Log(0.1, most, tuple(mark for mark in (0.1, 1, 10, 100, 1000, 10_000) if mark <= most))
    chart = _chart("worst lag of each moment", scale, "ms", shown)
    _draw(chart, shown, lines)
    end_s = max(float(run.found["seconds"]) for run in shown)
    chart.limit([(0.0, LAG_WORST_MS), (end_s, LAG_WORST_MS)], f"{LAG_WORST_MS:g} ms")
    return chart.svg()


def distribution_plot(shown: Sequence[Measurement]) -> str:
    """How late which share of the ticks came at most."""
    most_ms = max(20.0, *(float(run.found["lag"]["worst_ms"]) for run in shown))
    x = Log(0.05, most_ms * 1.2, tuple(mark for mark in (0.1, 1, 10, 100, 1000, 10_000) if mark <= most_ms))
    title = "ticks at most so late; grey: an idle loop beside"
    chart = Chart(title, x, Nines(), "ms later than asked", "% of ticks", width=_WIDE)
    chart.limit([(LAG_P99_MS, 0), (LAG_P99_MS, 99)], f"p99 {LAG_P99_MS:g} ms")
    for run in shown:
        chart.line(_curve(run.beside), "load-idle", f"idle beside {name(run)}")
    for run in shown:
        chart.line(_curve(run.found["lag"]), css_class(run), name(run))
    return chart.svg()


def _curve(lag: Any) -> Points:
    return [(max(float(lag_ms), 1e-3), float(percent)) for percent, lag_ms in lag["curve"]]


def total_plot(shown: Sequence[Measurement]) -> str:
    """All lag so far."""
    return _simple("all lag so far", "s", shown, lambda run: _points(run, "lag_total_ms", 1e-3))


def memory_plot(shown: Sequence[Measurement]) -> str:
    """The process's memory above its start."""

    def above_start(run: Measurement) -> Points:
        start = float(run.found["start_bytes"])
        return [(seconds, max(0.0, value - start / 1e6)) for seconds, value in _points(run, "resident_bytes", 1e-6)]

    lines = [above_start(run) for run in shown]
    most = max(PEAK_MB, *(value for line in lines for _, value in line))
    chart = _chart("memory above the start", Linear(most * 1.05), "MB", shown)
    _draw(chart, shown, lines)
    end_s = max(float(run.found["seconds"]) for run in shown)
    chart.limit([(0.0, PEAK_MB), (end_s, PEAK_MB)], f"{PEAK_MB:g} MB")
    return chart.svg()


def speed_plot(shown: Sequence[Measurement]) -> str:
    """How much JSON is delivered a second."""
    return _simple("JSON delivered", "MB/s", shown, lambda run: speeds(_points(run, "done", 1e-6)))


def _depths(shown: Sequence[Measurement]) -> list[str]:
    return [
        _simple("queued for the encoder", "episodes", shown, lambda run: _points(run, "queued")),
        waiting_plot(shown),
    ]


def waiting_plot(shown: Sequence[Measurement]) -> str:
    """How many episodes are logged and not delivered yet."""
    return _simple("logged and not delivered", "episodes", shown, lambda run: _points(run, "waiting"))


def speeds(totals: Points) -> Points:
    """What comes a second, over two seconds each, of what has come so far."""
    found: Points = []
    begin = 0
    for seconds, total in totals:
        while seconds - totals[begin + 1][0] >= _SMOOTHED_S if begin + 1 < len(totals) else False:
            begin += 1
        start_s, start = totals[begin]
        if seconds > start_s:
            found.append((seconds, (total - start) / (seconds - start_s)))
    return found


def _simple(title: str, unit: str, shown: Sequence[Measurement], points_of: Callable[[Measurement], Points]) -> str:
    lines = [points_of(run) for run in shown]
    most = max((value for line in lines for _, value in line), default=0.0)
    chart = _chart(title, Linear(max(most, 1e-3) * 1.05), unit, shown)
    _draw(chart, shown, lines)
    return chart.svg()


def _chart(title: str, y: Scale, unit: str, shown: Sequence[Measurement]) -> Chart:
    end_s = max(float(run.found["seconds"]) for run in shown)
    chart = Chart(title, Linear(end_s), y, "s", unit, width=_WIDE)
    for run in shown:
        for fault, at_s in run.faults:
            chart.mark(at_s, fault)
    return chart


def _draw(chart: Chart, shown: Sequence[Measurement], lines: Sequence[Points]) -> None:
    for run, line in zip(shown, lines, strict=True):
        chart.line(line, css_class(run), name(run))


def _points(run: Measurement, column: str, factor: float = 1.0) -> Points:
    series = run.found["series"]
    return [(float(s), float(value) * factor) for s, value in zip(series["seconds"], series[column], strict=True)]
