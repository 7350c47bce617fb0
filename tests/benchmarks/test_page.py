from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.bounds import verdicts
from benchmarks.page import page
from benchmarks.results import Results, read_results
from benchmarks.scales import Linear, Log
from benchmarks.svg import Chart, Mark, element, row_chart
from benchmarks.tables import tables
from benchmarks.terminal import print_tables
from benchmarks.writing import write_reports
from tests.benchmarks.made_up import made_up_output


@pytest.fixture
def results() -> Results:
    return read_results(made_up_output())


class Tags(HTMLParser):
    """Which tags and addresses a page holds."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_has_every_section_and_needs_nothing_else(results: Results) -> None:
    seen = Tags()
    seen.feed(page(results))
    assert seen.tags.count("section") == 9
    assert seen.tags.count("svg") >= 12
    assert seen.addresses == []
    assert "script" not in seen.tags
    assert "url(" not in page(results)


def test_sections_without_measurements_are_left_out(results: Results) -> None:
    part = Results(results.of("seal"), results.machine, results.date)
    seen = Tags()
    seen.feed(page(part))
    assert seen.tags.count("section") == 1
    assert "section" not in page(Results([], "nowhere", "2026-01-01T00:00:00")).split("<main>")[1]


def test_names_are_escaped() -> None:
    chart = Chart('a <b> & "c"', Linear(1), Log(1, 10), "<x>", "<y>")
    chart.line([(0, 1), (1, 10)], "way", "<name>", dots=True)
    chart.limit([(0, 2), (1, 2)], "<limit>")
    rows = row_chart(
        "<title>", [("<row>", [Mark("bar", 1, "way", "<1>"), Mark("dot", 1, "way", "<1>")])], Linear(1), "<x>"
    )
    for drawing in (chart.svg(), rows):
        ElementTree.fromstring(drawing)


def test_attributes_are_named_in_pythons_way() -> None:
    assert (
        element("text", "a", class_="x", text_anchor="end", y=1.26)
        == '<text class="x" text-anchor="end" y="1.3">a</text>'
    )


def test_verdicts_name_the_worst(results: Results) -> None:
    found = {verdict.what: verdict for verdict in verdicts(results)}
    assert len(found) == 24
    assert found["CPU, / plain"].is_met
    assert not found["memory, iter_json"].is_met
    assert found["memory, iter_json"].value == "5.00 MB"
    assert found["memory, iter_json"].where == "35 MB, iter_json, control 0.7/0.8"


def test_verdicts_on_whole_runs_are_about_ours(results: Results) -> None:
    found = {verdict.what: verdict for verdict in verdicts(results)}
    assert found["runs, lost"].is_met
    assert found["runs, memory"].value == "90 MB"
    assert not found["runs, × prime-runs"].is_met
    assert found["runs, × node at a time"].is_met
    assert not found["SIGKILL, lost"].is_met
    assert found["SIGKILL, lost"].where == "10 kills"
    assert "outage, lost" not in found
    assert found["producers, goodput"].is_met
    assert not found["producers, slowest / mean"].is_met
    assert found["producers, slowest / mean"].where == "12 producers, 16 slots, 25 s"


def test_writes_its_files(results: Results, tmp_path: Path) -> None:
    written = write_reports(results, tmp_path / "reports")
    assert [path.name for path in written] == ["report.html", "tables.md"]
    assert all(path.stat().st_size for path in written)


def test_the_terminal_tables_are_80_columns_wide(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    print_tables(tables(results), [Path("a.json")])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("8 at once" in line for line in lines)
    assert lines[-1] == "wrote a.json"
    assert not any("…" in line for line in lines)


def test_reads_what_is_written_however_old(results: Results) -> None:
    other: dict[str, Any] = {"name": "test_other", "extra_info": {}, "stats": {"median": 1.0}}
    output = made_up_output()
    output["benchmarks"].append(other)
    assert read_results(output) == results
