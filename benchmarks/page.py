"""The report as one HTML page that needs nothing else."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from benchmarks import plots, run_plots
from benchmarks.bounds import verdicts
from benchmarks.cells import Table
from benchmarks.results import Results
from benchmarks.run_tables import RUN_TABLES
from benchmarks.tables import (
    cpu_table,
    memory_table,
    others_table,
    seal_table,
    shape_table,
    stall_table,
    upload_table,
)
from benchmarks.verdicts import Verdict
from benchmarks.ways import OURS, WAYS
from benchmarks.worker_tables import submit_table, worker_table

_STYLE = Path(__file__).with_name("report.css")


def page(results: Results) -> str:
    """The whole page; sections about which nothing was measured are left out."""
    stalls = stall_table(results)
    sections = [
        _bounds(verdicts(results)),
        _section(
            "CPU time",
            "to_json beside other ways, round by round in one run; medians of the ratios. The dark mark is the limit.",
            plots.cpu_plots(results),
            [cpu_table(results)],
        ),
        _section(
            "How late ticks come while an episode is encoded",
            "A probe on an event loop asks to be woken each millisecond; the curves show which share of its ticks came "
            "at most so late. Left is better. aiter_json runs on the loop itself, all others in another thread.",
            plots.curve_plots(results),
            [],
            plots.legend((*WAYS, "idle")),
        ),
        _section(
            "Stalls against size",
            "worst: the median of the runs' worst ticks. control: a thread that only counts and gives way "
            "as the encoder does, in the same minutes. The dashed line is the limit.",
            plots.size_plots(results),
            [stalls],
            plots.legend((*WAYS, "idle", "control")),
        ),
        _section(
            "Adversarial shapes",
            "One enormous field of one node each, and other hard cases. The dark mark is the limit.",
            plots.shape_plots(results),
            [shape_table(results)],
            plots.legend(("plain", *OURS, "idle", "control")),
        ),
        _section(
            "Memory",
            "What Python and numpy allocate at most while one episode is encoded, beyond the model itself.",
            plots.memory_plots(results),
            [memory_table(results)],
            plots.legend(("plain", "to_json", "iter_json")),
        ),
        _section(
            "Models of others",
            "Python lists and serializers of their own. The dark mark is the limit.",
            plots.others_plots(results),
            [others_table(results)],
        ),
        _section(
            "Sealing and uploading",
            "SHA-256 and gzip of encoded lines, and whole episodes to a service in the same process.",
            plots.upload_plots(results),
            [seal_table(results), upload_table(results), submit_table(results), worker_table(results)],
        ),
        _section(
            "Whole runs",
            "Episodes of production sizes from submit to the service, beside the released prime-runs 0.1.4: "
            "what became of them, and how fast they get there.",
            run_plots.run_plots(results),
            [table(results) for table in RUN_TABLES],
            run_plots.LEGEND,
        ),
    ]
    return _document("".join(sections), results)


def _document(body: str, results: Results) -> str:
    origin = escape(f"{results.date[:16].replace('T', ' ')}, {results.machine}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>unstall: benchmarks</title>\n'
        f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        f'<header><h1>unstall: benchmarks</h1><p class="origin">{origin}</p></header>\n'
        f"<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _section(
    title: str,
    text: str,
    drawings: Sequence[str],
    shown: Sequence[Table],
    legend: Sequence[tuple[str, str]] = (),
) -> str:
    shown = [table for table in shown if table.rows]
    if not drawings and not shown:
        return ""
    names = "".join(f'<span class="key {class_}">{escape(name)}</span>' for name, class_ in legend if drawings)
    figures = "".join(f"<figure>{drawing}</figure>" for drawing in drawings)
    return (
        f"<section>\n<h2>{escape(title)}</h2>\n<p>{escape(text)}</p>\n"
        f'<div class="legend">{names}</div>\n<div class="figures">{figures}</div>\n'
        + "".join(map(_table, shown))
        + "</section>\n"
    )


def _table(table: Table) -> str:
    def cells(tag: str, line: Sequence[str]) -> str:
        classes = ['class="label"' if position < table.num_labels else "" for position in range(len(line))]
        return "".join(f"<{tag} {class_}>{escape(cell)}</{tag}>" for class_, cell in zip(classes, line, strict=True))

    body = "".join(f"<tr>{cells('td', row)}</tr>\n" for row in table.rows)
    return (
        f"<details><summary>{escape(table.title)}</summary>\n<div class='scroll'><table>\n"
        f"<thead><tr>{cells('th', table.columns)}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        f"<p class='note'>{escape(table.note)}</p></details>\n"
    )


def _bounds(found: Sequence[Verdict]) -> str:
    cards = "".join(
        f'<div class="card {"met" if verdict.is_met else "missed"}"><div class="what">{escape(verdict.what)}</div>'
        f'<div class="figure">{escape(verdict.value)}</div>'
        f'<div class="limit-of">{"within" if verdict.is_met else "beyond"} {escape(verdict.limit)}</div>'
        f'<div class="where">{escape(verdict.where)}</div></div>\n'
        for verdict in found
    )
    if not cards:
        return ""
    return (
        "<section>\n<h2>What is to be reached</h2>\n<p>For each bound the benchmark that comes closest to it or goes "
        f'farthest beyond.</p>\n<div class="cards">\n{cards}</div>\n</section>\n'
    )
