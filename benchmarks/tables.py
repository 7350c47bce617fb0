"""The tables of a report, as text, whatever shows them."""

import statistics
from collections.abc import Iterable, Sequence

from benchmarks.bounds import verdicts
from benchmarks.cells import Table, milliseconds, size, stall_cell
from benchmarks.results import Results, Row
from benchmarks.run_tables import RUN_TABLES
from benchmarks.ways import OURS, WAYS
from benchmarks.worker_tables import submit_table, worker_table


def tables(results: Results) -> list[Table]:
    """All tables that have rows."""
    all_tables = (
        cpu_table(results),
        stall_table(results),
        shape_table(results),
        memory_table(results),
        others_table(results),
        seal_table(results),
        upload_table(results),
        submit_table(results),
        worker_table(results),
        *(table(results) for table in RUN_TABLES),
        bound_table(results),
    )
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
        ("episode", "tokens", *map(short, WAYS), "control", "idle", "step"),
        rows,
        2,
        "How much later than asked a 1 ms tick comes; worst: the median of the runs' worst. aiter_json runs on the "
        "loop itself, the others in a thread. idle: the same loop without any work, in the same minutes. control: "
        "a thread that only counts and naps as the encoder does. step: the longest that to_json works between two "
        "chances to give way, in CPU time.",
    )


def shape_table(results: Results) -> Table:
    ways = ("plain", *OURS)
    rows = [[shape, *cells] for (shape,), cells in _pivot(results.of("shape"), ("shape",), ways)]
    return Table(
        "Stall on adversarial shapes, in ms: p99 / worst",
        ("shape", *map(short, ways), "control", "idle", "step"),
        rows,
        1,
        "One enormous field of one node each, and other hard cases.",
    )


def memory_table(results: Results) -> Table:
    rows = [
        [
            size(row.info["size_mb"]),
            row.info["way"],
            f"{row.info['model_bytes'] / 1e6:.0f}",
            "" if row.info["peak_bytes"] is None else f"{row.info['peak_bytes'] / 1e6:.1f}",
            f"{row.info['traced_bytes'] / 1e6:.1f}",
            f"{row.info['traced_bytes'] / row.info['bytes']:.2f}",
        ]
        for row in results.of("memory")
    ]
    return Table(
        "Peak memory while encoding, beyond the model, in MB",
        ("episode", "way", "model", "process", "Python", "/ JSON"),
        rows,
        2,
        "process: growth of the resident memory, holes between the model's arrays that fill up included; Python: what "
        "Python and numpy allocated, also divided by the size of the JSON. Each line in a process of its own.",
    )


def others_table(results: Results) -> Table:
    rows = [
        [
            row.info["model"],
            f"{row.info['bytes'] / 1e6:.1f}",
            milliseconds(row.info["cpu_s"]["plain"] * 1e3),
            milliseconds(row.info["cpu_s"]["to_json"] * 1e3),
            f"{row.info['ratios']['plain']:.2f}",
            stall_cell(row.stall),
            milliseconds(row.info["longest_call_ms"]),
        ]
        for row in results.of("others")
    ]
    return Table(
        "Models of others: to_json beside model_dump and orjson",
        ("model", "MB", "plain ms", "to_json ms", "ratio", "p99/worst", "longest serializer"),
        rows,
        1,
        "CPU time; stall of to_json in ms, and the model's own longest serializer call, which nothing can divide.",
    )


def seal_table(results: Results) -> Table:
    rows = [
        [
            row.info["compressor"],
            f"{row.info['bytes'] / row.info['cpu_s'] / 1e6:.0f}",
            f"{row.info['compressed_bytes'] / row.info['bytes']:.3f}",
            stall_cell(row.stall),
        ]
        for row in results.of("seal")
    ]
    return Table(
        "Sealing: SHA-256 and compression of encoded lines",
        ("compressor", "MB/s", "ratio", "p99/worst ms"),
        rows,
        1,
        "MB/s of CPU time, one thread; ratio: compressed to uncompressed bytes.",
    )


def upload_table(results: Results) -> Table:
    rows = [
        [
            row.info["client"],
            f"{row.info['bytes'] / row.seconds / 1e6:.0f}",
            str(row.info["requests"]),
            stall_cell(row.stall),
        ]
        for row in results.of("upload")
    ]
    return Table(
        "Uploading episodes: encoding, sealing, and a service that answers after 50 ms",
        ("client", "MB/s", "requests", "p99/worst ms"),
        rows,
        1,
        "An in-process transport takes the whole body and answers 201. MB/s of uncompressed lines.",
    )


def bound_table(results: Results) -> Table:
    rows = [
        [verdict.what, verdict.where, verdict.limit, verdict.value, "yes" if verdict.is_met else "NO"]
        for verdict in verdicts(results)
    ]
    return Table(
        "What is to be reached, and the benchmark that comes closest or goes beyond",
        ("bound", "where", "limit", "measured", "met"),
        rows,
        2,
    )


def _pivot(rows: Iterable[Row], keys: Sequence[str], ways: Sequence[str]) -> Iterable[tuple[tuple, list[str]]]:
    """For each combination of keys, a cell per way and control, and the longest step."""
    groups: dict[tuple, dict[str, Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.info[key] for key in keys), {})[row.info["way"]] = row
    for key, by_way in groups.items():
        cells = [stall_cell(by_way[way].stall) if way in by_way else "" for way in ways]
        idle = sorted((row.idle for row in by_way.values()), key=lambda stall: stall.worst_ms)
        step_ms = by_way["to_json"].info.get("longest_step_ms") if "to_json" in by_way else None
        cells += [_control_cell(list(by_way.values())), stall_cell(idle[len(idle) // 2])]
        yield key, [*cells, "" if step_ms is None else f"{step_ms:.2f}"]


def _control_cell(rows: Sequence[Row]) -> str:
    """The medians of what was measured beside each way."""
    figures = [[row.info[name] for row in rows if name in row.info] for name in ("control_p99_ms", "control_worst_ms")]
    return "/".join(milliseconds(statistics.median(values)) for values in figures if values)


def short(way: str) -> str:
    """A way's name for a narrow column."""
    return {"node at a time": "node", "iter_json": "iter", "aiter_json": "aiter"}.get(way, way)
