"""The tables of a report, as text, whatever shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.results import Results, Row, Stall
from benchmarks.ways import WAYS

LIMIT_P99_MS = 1.5
LIMIT_WORST_MS = 3.0


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a heading, rows of text, and what must be said below; the first columns are labels, the rest numbers."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    num_labels: int = 1
    note: str = ""


def tables(results: Results) -> list[Table]:
    """All tables that have rows."""
    all_tables = (cpu_table(results), stall_table(results))
    return [table for table in all_tables if table.rows]


def cpu_table(results: Results) -> Table:
    rows = [
        [
            size(row.info["size_mb"]),
            str(row.info["tokens"]),
            milliseconds(row.info["cpu_s"]["to_json"] * 1e3),
            f"{row.info['bytes'] / row.info['cpu_s']['to_json'] / 1e6:.0f}",
            *(f"{row.info['ratios'][name]:.2f}" for name in ("plain", "node at a time", "orjson alone")),
        ]
        for row in results.of("cpu")
    ]
    return Table(
        "CPU time of to_json, and its ratio to other ways",
        ("episode", "tokens/node", "ms", "MB/s", "/ plain", "/ node at a time", "/ orjson alone"),
        rows,
        2,
        "plain: orjson.dumps(episode.to_record()); orjson alone: on the dict built beforehand. Medians.",
    )


def stall_table(results: Results) -> Table:
    rows = [
        [size(size_mb), str(tokens), *cells]
        for (size_mb, tokens), cells in _pivot(results.of("stall"), ("size_mb", "tokens"), WAYS)
    ]
    return Table(
        "Stall of an event loop meanwhile, in ms: p99 / worst",
        ("episode", "tokens", *(short(way) for way in WAYS), "idle"),
        rows,
        2,
        "How much later than asked a 1 ms tick comes; worst: the median of the runs' worst. aiter_json runs on the "
        "loop itself, the others in a thread. idle: the same loop without any work, in the same minutes.",
    )


def _pivot(rows: Iterable[Row], keys: Sequence[str], ways: Sequence[str]) -> Iterable[tuple[tuple, list[str]]]:
    """For each combination of keys, a cell per way and one for the idle loop."""
    groups: dict[tuple, dict[str, Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.info[key] for key in keys), {})[row.info["way"]] = row
    for key, by_way in groups.items():
        cells = [stall_cell(by_way[way].stall) if way in by_way else "" for way in ways]
        idle = sorted((row.idle for row in by_way.values()), key=lambda stall: stall.worst_ms)
        yield key, [*cells, stall_cell(idle[len(idle) // 2])]


def short(way: str) -> str:
    """A way's name for a narrow column."""
    return "node" if way == "node at a time" else way


def stall_cell(stall: Stall) -> str:
    """The 99th percentile and the worst."""
    return f"{milliseconds(stall.p99_ms)}/{milliseconds(stall.worst_ms)}"


def milliseconds(value: float) -> str:
    """A number of milliseconds, to two digits where it is small."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"


def size(size_mb: float) -> str:
    """A size in megabytes or gigabytes."""
    return f"{size_mb / 1000:g} GB" if size_mb >= 1000 else f"{size_mb:g} MB"
