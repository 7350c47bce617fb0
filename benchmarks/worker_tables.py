"""The tables about a worker."""

from benchmarks.cells import Table, stall_cell
from benchmarks.results import Results


def submit_table(results: Results) -> Table:
    rows = [
        [
            row.info["record"],
            f"{row.info['calls']:,}",
            f"{row.info['refused']:,}",
            *(f"{row.info[name]:.1f}" for name in ("p50_us", "p99_us", "worst_us")),
        ]
        for row in results.of("submit")
    ]
    return Table(
        "submit: eight producers that pause 1 ms",
        ("record", "calls", "refused", "p50 µs", "p99 µs", "worst µs"),
        rows,
        1,
        "nothing: the same loop without a worker. The worker encodes and seals meanwhile. Medians of the runs.",
    )


def worker_table(results: Results) -> Table:
    rows = [
        [
            f"{row.info['bytes'] / 1e6:.0f}",
            f"{row.info['bytes'] / row.seconds / 1e6:.0f}",
            f"{row.info['compressed_bytes'] / row.info['bytes']:.3f}",
            stall_cell(row.stall),
            stall_cell(row.idle),
        ]
        for row in results.of("seal_worker")
    ]
    return Table(
        "A worker that encodes and seals episodes",
        ("MB", "MB/s", "ratio", "p99/worst ms", "idle p99/worst ms"),
        rows,
        0,
        "MB/s of JSON, wall time: encoding and compressing overlap. Nothing is kept or sent.",
    )
