import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load.bounds import load_verdicts
from benchmarks.load.cases import Case
from benchmarks.load.charts import middle_run, speeds
from benchmarks.load.measurement import Measurement, Results, new_results, read_results
from benchmarks.load.reports import page, show, write
from benchmarks.load.tables import load_tables
from tests.benchmarks.load.made_up import lag, made_up_results, measured


@pytest.fixture
def results() -> Results:
    return made_up_results()


class Tags(HTMLParser):
    """Which tags, addresses and titles of sections a page holds."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.titles: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "h2" and data.strip():
            self.titles.append(data)


def only(*measurements: Any) -> Results:
    return Results(list(measurements), "a machine", "2026-01-02T03:04:05+00:00")


def verdict_of(results: Results, what: str) -> Any:
    return {verdict.what: verdict for verdict in load_verdicts(results)}[what]


def test_what_is_written_can_be_read(results: Results, tmp_path: Path) -> None:
    data, html, tables = write(results, tmp_path)
    assert read_results(json.loads(data.read_bytes())) == results
    assert html.stat().st_size > 10_000
    assert "| upload | transport | 1,000 | 1,000 | 0 |" in tables.read_text()


def test_the_page_has_every_section_and_needs_nothing_else(results: Results) -> None:
    markup = page(results)
    seen = Tags(markup)
    assert [title for title in seen.titles if title not in ("", "\n")] == [
        "What is to be reached",
        "100 episodes",
        "1,000 episodes",
        "10,000 episodes",
        "Beside the plain way, 100 episodes",
        "A soak of 20 minutes",
        "Tables",
    ]
    assert seen.tags.count("svg") == 5 * 7
    assert seen.addresses == []
    assert "script" not in seen.tags
    assert "url(" not in markup
    assert "kill at 20" in markup


def test_a_page_of_nothing() -> None:
    assert "section" not in page(new_results()).split("<main>")[1]
    assert load_tables(only(Measurement(Case("file", None, 5), problem="it failed"))) == []


def test_the_tables_are_80_columns_wide(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    show(results, Path("made-up"))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "…" in line]
    assert lines[-1] == "wrote made-up/load.md"


def test_tables_have_a_cell_for_every_column(results: Results) -> None:
    tables = load_tables(results)
    assert [len(table.rows) for table in tables] == [15, 15, 1, 19]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def test_everything_is_met_where_everything_is_well(results: Results) -> None:
    found = load_verdicts(results)
    assert [verdict.what for verdict in found if not verdict.is_met] == ["JSON, transport"]  # 200 MB/s, as made up
    assert {"delivered of 1,000", "delivered of 10,000", "soak, lost"} <= {verdict.what for verdict in found}


@pytest.mark.parametrize(
    ("case", "changed", "what", "value"),
    [
        (Case("both", "none", 1000), {"delivered": 999}, "delivered of 1,000", "999"),
        (Case("both", "none", 1000), {"doubled": 1}, "delivered of 1,000", "1,000"),
        (Case("file", None, 1000), {"lag": lag(6.0) | {"p99_ms": 3.5}}, "lag p99, file", "3.5 ms"),
        (Case("upload", "none", 1000), {"lag": lag(12.0)}, "lag worst, upload", "12.0 ms"),
        (Case("upload", "shaped", 10), {"log": {"worst_us": 1300.0}}, "log(), worst", "1300 µs"),
        (Case("upload", "transport", 1000), {"seconds": 50.0}, "JSON, transport", "160 MB/s"),
        (Case("all", "none", 10), {"peak_bytes": 310_000_000}, "peak memory", "310 MB"),
        (Case("upload", "none", 0, soak_s=60.0), {"delivered": 498}, "soak, lost", "2"),
        (Case("upload", "none", 0, soak_s=60.0), {"delivered": 500, "doubled": 1}, "soak, miscounted", "1"),
    ],
)  # fmt: skip
def test_each_bound_can_be_missed(case: Case, changed: dict[str, Any], what: str, value: str) -> None:
    verdict = verdict_of(only(measured(case, **changed)), what)
    assert not verdict.is_met
    assert verdict.value == value


def test_memory_that_grows_in_a_soak_is_said() -> None:
    case = Case("upload", "none", 0, soak_s=60.0)
    well = measured(case)
    series = dict(well.found["series"], resident_bytes=[400e6 + 1e6 * second for second in range(40)])
    verdict = verdict_of(only(measured(case, series=series)), "soak, memory grows")
    assert not verdict.is_met
    assert verdict.value == "35.0 MB"
    assert verdict_of(only(well), "soak, memory grows").is_met


def test_of_several_runs_the_median_of_the_worst_counts() -> None:
    runs = [measured(Case("file", None, 1000, run), lag=lag(worst)) for run, worst in enumerate((3.0, 90.0, 8.0), 1)]
    assert verdict_of(only(*runs), "lag worst, file").value == "8.0 ms"
    assert middle_run(runs) is runs[2]


def test_bounds_are_looked_at_where_a_thousand_were_logged() -> None:
    few = measured(Case("upload", "none", 100), lag=lag(50.0))
    many = measured(Case("upload", "none", 1000), lag=lag(5.0))
    more = measured(Case("upload", "none", 10_000), lag=lag(70.0))
    assert verdict_of(only(few, many, more), "lag worst, upload").value == "5.0 ms"
    assert verdict_of(only(more), "lag worst, upload").value == "70.0 ms"


def test_speeds_are_over_two_seconds() -> None:
    totals = [(0.0, 0.0), (1.0, 10.0), (2.0, 20.0), (3.0, 20.0), (4.0, 20.0), (5.0, 50.0)]
    assert speeds(totals) == [(1.0, 10.0), (2.0, 10.0), (3.0, 5.0), (4.0, 0.0), (5.0, 15.0)]
    assert speeds([]) == []
