"""The tables about whole runs."""

from collections.abc import Callable
from typing import Final

from benchmarks.cells import Table
from benchmarks.results import Results


def logging_table(results: Results) -> Table:
    rows = [
        [
            row.info["scenario"],
            row.info["side"],
            *(f"{row.info[name]:,}" for name in ("stored", "spooled", "lost")),
            "" if row.info["peak_bytes"] is None else f"{row.info['peak_bytes'] / 1e6:,.0f}",
            f"{row.info['logged_s']:.1f}",
            f"{row.seconds:.1f}",
        ]
        for row in results.of("run")
    ]
    counts = {f"{row.info['episodes']:,} episodes, {row.info['bytes'] / 1e6:,.0f} MB" for row in results.of("run")}
    return Table(
        "Whole runs: episodes of production sizes, a service of 100 ms and 100 MB/s",
        ("logged at", "uploader", "stored", "on disk", "lost", "MB", "logged s", "s"),
        rows,
        2,
        f"{', '.join(sorted(counts))}. MB: peak of the resident memory above that before the first record. logged: "
        "until the last submit returned; s: until everything was closed. Of fewer than 1,000 episodes prime-runs' "
        "queue holds accordingly fewer, and its patience with a full one is shorter.",
    )


def run_submit_table(results: Results) -> Table:
    names = ("p50_us", "p99_us", "worst_us", "cpu_worst_us", "control_worst_us")
    rows = [
        [row.info["scenario"], row.info["side"], *(f"{row.info[name]:,.0f}" for name in names)]
        for row in results.of("run")
    ]
    return Table(
        "Whole runs: how long submit takes, in µs",
        ("logged at", "uploader", "p50", "p99", "worst", "CPU", "control"),
        rows,
        2,
        "CPU: the worst of its CPU time. control: the worst of calls that only count, between those of submit.",
    )


def throughput_table(results: Results) -> Table:
    rows = [
        [
            way,
            f"{speed:.0f}",
            f"{row.info['mb_per_cpu_s'][way]:.0f}",
            f"{row.info['ratios'][way]:.1f}" if way in row.info["ratios"] else "",
        ]
        for row in results.of("throughput")
        for way, speed in row.info["mb_per_s"].items()
    ]
    return Table(
        "Whole runs: encoding, sealing, keeping and sending, to a service that answers at once",
        ("way", "MB/s", "MB/CPU s", "unstall is × as fast"),
        rows,
        1,
        "MB/s of JSON, by the clock; MB/CPU s: of all threads' CPU time, of which unstall uses two cores at once. node "
        "at a time: with zlib level 1, one episode a request. Ratios by the clock, round by round; medians.",
    )


def poison_table(results: Results) -> Table:
    names = ("episodes", "stored", "set_aside", "lost", "said_to_be_stored", "said_to_be_lost")
    rows = [[row.info["side"], *(f"{row.info[name]:,}" for name in names)] for row in results.of("poison")]
    return Table(
        "One rejected record, at a real receiver",
        ("uploader", "episodes", "stored", "set aside", "lost", "said to be stored", "said to be lost"),
        rows,
        1,
        "stored: what the receiver really has.",
    )


def kill_table(results: Results) -> Table:
    names = ("kills", "killed_resumes", "confirmed", "stored", "lost", "doubled", "unexplained")
    rows = [[f"{row.info[name]:,}" for name in names] for row in results.of("kills")]
    return Table(
        "SIGKILL at random moments, then resuming",
        ("kills", "of resuming", "confirmed", "stored", "lost", "doubled", "unexplained files"),
        rows,
        0,
        "confirmed: records that a flush said are safe; lost: those of them that the receiver does not have; doubled: "
        "records that it has more than once.",
    )


def outage_table(results: Results) -> Table:
    names = ("episodes", "stored", "spooled", "lost")
    rows = [
        [row.info["side"], f"{row.info['outage_s']:.0f}", *(f"{row.info[name]:,}" for name in names)]
        for row in results.of("outage")
    ]
    return Table(
        "Records logged before, during and after an outage",
        ("uploader", "outage s", "episodes", "stored", "on disk", "lost"),
        rows,
        1,
        "Every connection is refused; the clock passes the time at once.",
    )


def contention_table(results: Results) -> Table:
    rows = [
        [
            *(f"{row.info[name]:,}" for name in ("producers", "slots")),
            f"{row.info['sent_s']:.0f}",
            *(f"{row.info[name]:,}" for name in ("stored", "refusals")),
            f"{row.info['best_per_s']:.1f}",
            *(f"{row.info[name]:.2f}" for name in ("goodput", "goodput_at_first", "least")),
        ]
        for row in results.of("contention")
    ]
    return Table(
        "Producers at one receiver, which holds each upload for a while",
        ("producers", "slots", "s", "stored", "refusals", "best/s", "goodput", "first half", "slowest/mean"),
        rows,
        0,
        "best: batches a second with always as many requests as there are slots, measured before and after. goodput: "
        "the share of it that all got stored together, from the first request on. slowest: who got fewest stored.",
    )


RUN_TABLES: Final[tuple[Callable[[Results], Table], ...]] = (
    logging_table,
    run_submit_table,
    throughput_table,
    poison_table,
    kill_table,
    outage_table,
    contention_table,
)
