"""Write and show the reports; `python -m benchmarks.load.reports load-results/load.json` makes them anew."""

import json
import sys
from pathlib import Path
from typing import Final

from benchmarks.cells import Table
from benchmarks.load.bounds import load_verdicts
from benchmarks.load.cases import Case
from benchmarks.load.charts import css_class, load_plots, middle_run, name, soak_plots
from benchmarks.load.measurement import Measurement, Results, read_results
from benchmarks.load.tables import bound_table, delivery_table, lag_table, load_tables, soak_table
from benchmarks.markdown import markdown_table
from benchmarks.markup import cards, document, section
from benchmarks.terminal import print_tables

_DATA: Final = "load.json"
_PAGE: Final = "load.html"
_TABLES: Final = "load.md"


def write(results: Results, folder: Path) -> list[Path]:
    """Write everything into a folder; the files."""
    measured = f"Measured {results.date[:10]} on {results.machine}."
    texts = {
        _DATA: json.dumps(results.to_dict()),
        _PAGE: page(results),
        _TABLES: "\n\n".join([*map(markdown_table, load_tables(results)), measured]) + "\n",
    }
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in texts]


def show(results: Results, folder: Path) -> None:
    """Print the tables, and where the files are."""
    print_tables(load_tables(results), [folder / file for file in (_DATA, _PAGE, _TABLES)])


def page(results: Results) -> str:
    """The whole page; sections about which nothing was measured are left out."""
    shown = [middle_run(runs) for runs in results.runs()]
    plain = [run for run in shown if run.case.monitors == "plain"]
    sections = [cards(load_verdicts(results))]
    for episodes in sorted({run.case.episodes for run in shown if not run.case.soak_s}):
        runs = [run for run in shown if run.case.episodes == episodes and not run.case.soak_s]
        sections.append(_over_time(f"{episodes:,} episodes", [run for run in runs if run not in plain]))
    for run in plain:
        beside = [other for other in shown if _is_comparable(other.case, run.case)]
        sections.append(_over_time(f"Beside the plain way, {run.case.episodes:,} episodes", [*beside, run]))
    sections += [_soak(run) for run in shown if run.case.soak_s]
    tables = [delivery_table(results), lag_table(results), soak_table(results), bound_table(results)]
    sections.append(section("Tables", "Each with what its columns mean.", [], tables))
    origin = f"{results.date[:16].replace('T', ' ')}, {results.machine}"
    return document("unstall: the load test", origin, "".join(sections))


def _is_comparable(case: Case, plain: Case) -> bool:
    return case.monitors == "upload" and case.network == plain.network and case.episodes == plain.episodes


def _over_time(title: str, runs: list[Measurement]) -> str:
    text = "Of several runs the one whose worst lag is in the middle. The dashed lines are what is to be reached."
    return section(title, text, load_plots(runs), no_tables(), [(name(run), css_class(run)) for run in runs])


def _soak(soak: Measurement) -> str:
    text = (
        f"Uploading at 70 % of the {soak.found['rate'] / 1e6:.0f} MB/s that were held while nothing failed. Each mark "
        "at the bottom is a fault: point at it to see which."
    )
    return section(f"A soak of {soak.case.soak_s / 60:g} minutes", text, soak_plots(soak), no_tables())


def no_tables() -> list[Table]:
    """Those are all at the end."""
    return []


if __name__ == "__main__":
    file = Path(sys.argv[1])
    found = read_results(json.loads(file.read_bytes()))
    write(found, file.parent)
    show(found, file.parent)
