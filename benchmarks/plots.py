"""The plots of the report; each is drawn of whatever was measured, and left out when that is nothing."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from benchmarks.bounds import (
    MEMORY_LIMIT_MB,
    OTHERS_LIMIT,
    P99_LIMIT_MS,
    WORST_LIMIT_MS,
    orjson_limit,
    plain_limit,
)
from benchmarks.cells import size
from benchmarks.results import Results, Row, Stall
from benchmarks.scales import Linear, Log, Nines, around
from benchmarks.svg import Chart, Mark, row_chart
from benchmarks.ways import OURS

CURVES_MB = 35.0
"""At which size distributions are shown, or else at the largest measured."""


def css_class(way: str) -> str:
    """The style sheet's class of a way."""
    return f"way-{way.replace(' ', '-').replace('_', '-')}"


def cpu_plots(results: Results) -> list[str]:
    """CPU ratios with their limits: against the plain way, and against orjson alone."""
    rows = sorted(results.of("cpu"), key=lambda row: (row.info["tokens"], row.info["size_mb"]))
    if not rows:
        return []
    kinds: tuple[tuple[str, str, Callable[[int], float]], ...] = (
        ("plain", "to_json / the plain way", plain_limit),
        ("orjson alone", "to_json / orjson alone, its dict built beforehand", orjson_limit),
    )
    return [_ratios(rows, other, title, limit) for other, title, limit in kinds]


def _ratios(rows: Sequence[Row], other: str, title: str, limit: Callable[[int], float]) -> str:
    shown = []
    for row in rows:
        ratio, bound = row.info["ratios"][other], limit(row.info["tokens"])
        marks = [Mark("bar", ratio, css_class("to_json"), f"{ratio:.2f}"), Mark("limit", bound, "", f"limit {bound:g}")]
        shown.append((f"{row.info['tokens']:,} tokens, {size(row.info['size_mb'])}", marks))
    most = max(mark.value for _, marks in shown for mark in marks)
    return row_chart(title, shown, Linear(most * 1.05), "ratio of CPU time")


def curve_plots(results: Results) -> list[str]:
    """How stalls are distributed: cumulative curves, one plot for each number of tokens a node."""
    rows = results.of("stall")
    if not rows:
        return []
    sizes = {row.info["size_mb"] for row in rows}
    size_mb = CURVES_MB if CURVES_MB in sizes else max(sizes)
    rows = [row for row in rows if row.info["size_mb"] == size_mb]
    return [_curves(tokens, size_mb, group) for tokens, group in _by(rows, "tokens")]


def _curves(tokens: int, size_mb: float, rows: Sequence[Row]) -> str:
    most_ms = max(20.0, *(row.stall.curve[-1][1] for row in rows))
    x = Log(0.05, most_ms * 1.2, tuple(mark for mark in (0.1, 1, 10, 100, 1000, 10_000) if mark <= most_ms))
    title = f"{tokens:,} tokens a node, {size(size_mb)}"
    chart = Chart(title, x, Nines(), "ms later than asked", "% of ticks, at most so late")
    chart.limit([(P99_LIMIT_MS, 0), (P99_LIMIT_MS, 99)], f"p99 {P99_LIMIT_MS:g} ms")
    idle = min((row.idle for row in rows), key=lambda stall: stall.p99_ms)
    chart.line(_points(idle), css_class("idle"), "idle")
    for row in rows:
        chart.line(_points(row.stall), css_class(row.info["way"]), row.info["way"])
    return chart.svg()


def _points(stall: Stall) -> list[tuple[float, float]]:
    return [(max(lag_ms, 1e-3), percent) for percent, lag_ms in stall.curve]


def size_plots(results: Results) -> list[str]:
    """How stalls grow with the episode: the worst, then the 99th percentile, by tokens a node."""
    rows = results.of("stall")
    if len({row.info["size_mb"] for row in rows}) < 2:
        return []
    kinds: tuple[tuple[str, float, Callable[[Stall], float]], ...] = (
        ("worst", WORST_LIMIT_MS, lambda stall: stall.worst_ms),
        ("p99", P99_LIMIT_MS, lambda stall: stall.p99_ms),
    )
    return [
        _sizes(f"{name}, {tokens:,} tokens a node", limit_ms, figure, f"control_{name}_ms", group)
        for name, limit_ms, figure in kinds
        for tokens, group in _by(rows, "tokens")
    ]


def _sizes(title: str, limit_ms: float, figure: Callable[[Stall], float], control: str, rows: Sequence[Row]) -> str:
    sizes = sorted({row.info["size_mb"] for row in rows})
    y = Log(0.1, max(10.0, around([figure(row.stall) for row in rows])[1]))
    chart = Chart(title, Log(sizes[0] * 0.8, sizes[-1] * 1.25, tuple(sizes)), y, "MB of JSON", "ms")
    chart.limit([(sizes[-1] * 1.25, limit_ms), (sizes[0] * 0.8, limit_ms)], f"{limit_ms:g} ms")
    for way, group in _by(rows, "way"):
        group = sorted(group, key=lambda row: row.info["size_mb"])
        chart.line([(row.info["size_mb"], figure(row.stall)) for row in group], css_class(way), way, dots=True)
        if way == "to_json":
            chart.line([(row.info["size_mb"], figure(row.idle)) for row in group], css_class("idle"), "idle", dots=True)
            controls = [(row.info["size_mb"], row.info[control]) for row in group if control in row.info]
            chart.line(controls, css_class("control"), "control", dots=True)
    return chart.svg()


def shape_plots(results: Results) -> list[str]:
    """The worst stall on each adversarial shape."""
    shown = []
    for shape, group in _by(results.of("shape"), "shape"):
        by_way = {row.info["way"]: row for row in group}
        marks = [Mark("limit", WORST_LIMIT_MS, "", f"limit {WORST_LIMIT_MS:g} ms")]
        if "to_json" in by_way:
            info = by_way["to_json"].info
            for name in ("idle", "control"):
                worst_ms = info.get(f"{name}_worst_ms", 0.0)
                marks.append(Mark("dot", worst_ms, css_class(name), f"{name}: {worst_ms:.1f} ms"))
        for way in ("plain", *OURS):
            if way in by_way:
                worst_ms = by_way[way].stall.worst_ms
                marks.append(Mark("dot", worst_ms, css_class(way), f"{way}: {worst_ms:.1f} ms"))
        shown.append((shape, marks))
    if not shown:
        return []
    x = Log(0.1, max(10.0, around([max(0.1, mark.value) for _, marks in shown for mark in marks])[1]))
    return [row_chart("worst stall", shown, x, "ms later than asked", width=760.0)]


def memory_plots(results: Results) -> list[str]:
    """Peak memory against the episode's size."""
    rows = results.of("memory")
    if len({row.info["size_mb"] for row in rows}) < 2:
        return []
    sizes = sorted({row.info["size_mb"] for row in rows})
    low, high = sizes[0] * 0.8, sizes[-1] * 1.25
    peaks = [row.info["traced_bytes"] / 1e6 for row in rows]
    y = Log(min(0.1, around(peaks)[0]), around(peaks)[1])
    chart = Chart("peak beyond the model", Log(low, high, tuple(sizes)), y, "MB of JSON", "MB", width=520.0)
    chart.limit([(high, MEMORY_LIMIT_MB), (low, MEMORY_LIMIT_MB)], f"iter_json: {MEMORY_LIMIT_MB:g} MB")
    chart.limit([(high, 2 * high), (low, 2 * low)], "to_json: twice its result")
    for way, group in _by(rows, "way"):
        points = [(row.info["size_mb"], row.info["traced_bytes"] / 1e6) for row in group]
        chart.line(sorted(points), css_class(way), way, dots=True)
    return [chart.svg()]


def others_plots(results: Results) -> list[str]:
    """CPU ratios of other people's models."""
    shown = []
    for row in results.of("others"):
        ratio = row.info["ratios"]["plain"]
        marks = [Mark("bar", ratio, css_class("to_json"), f"{ratio:.2f}"), Mark("limit", OTHERS_LIMIT, "", "limit")]
        shown.append((row.info["model"], marks))
    if not shown:
        return []
    most = max(mark.value for _, marks in shown for mark in marks)
    return [row_chart("to_json / the plain way", shown, Linear(most * 1.05), "ratio of CPU time")]


def upload_plots(results: Results) -> list[str]:
    """How fast lines are sealed, and episodes uploaded."""
    plots = []
    for kind, name, title in (("seal", "compressor", "sealing"), ("upload", "client", "uploading")):
        shown = []
        for row in results.of(kind):
            seconds = row.info["cpu_s"] if kind == "seal" else row.seconds
            speed = row.info["bytes"] / seconds / 1e6
            shown.append((row.info[name], [Mark("bar", speed, css_class("to_json"), f"{speed:.0f}")]))
        if shown:
            most = max(mark.value for _, marks in shown for mark in marks)
            plots.append(row_chart(title, shown, Linear(most * 1.05), "MB/s, uncompressed"))
    return plots


def legend(ways: Sequence[str]) -> list[tuple[str, str]]:
    """The names in a legend, and their classes."""
    return [(way, css_class(way)) for way in ways]


def _by(rows: Iterable[Row], key: str) -> list[tuple]:
    """Rows by a value of theirs, in the order in which the values first come."""
    rows = list(rows)
    order = list(dict.fromkeys(row.info[key] for row in rows))
    rows.sort(key=lambda row: order.index(row.info[key]))
    return [(value, list(group)) for value, group in groupby(rows, key=lambda row: row.info[key])]
