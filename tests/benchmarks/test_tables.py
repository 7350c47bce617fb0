from typing import Any

from benchmarks.markdown import markdown
from benchmarks.results import Results, read_results
from benchmarks.tables import milliseconds, tables
from benchmarks.ways import WAYS

CURVE = [[0, 0.1], [50, 0.2], [99, 1.0], [100, 2.0]]
STALL: dict[str, Any] = {"p50_ms": 0.2, "p99_ms": 1.0, "worst_ms": 2.0, "ticks": 400, "curve": CURVE, "seconds": 0.2}
STALL |= {"idle_p50_ms": 0.1, "idle_p99_ms": 0.5, "idle_worst_ms": 0.9, "idle_curve": CURVE}
EPISODE = {"size_mb": 2.2, "tokens": 900, "bytes": 2_200_000}


def results() -> Results:
    cpu = {
        "kind": "cpu",
        "cpu_s": {"to_json": 0.01, "plain": 0.04, "orjson alone": 0.01, "node at a time": 0.05},
        "ratios": {"plain": 0.25, "orjson alone": 1.0, "node at a time": 0.2},
    }
    infos = [cpu | EPISODE | STALL, *({"kind": "stall", "way": way} | EPISODE | STALL for way in WAYS)]
    return read_results(
        {
            "benchmarks": [
                {"name": f"test[{i}]", "extra_info": x, "stats": {"median": 1}} for i, x in enumerate(infos)
            ],
            "machine_info": {
                "cpu": {"brand_raw": "A | CPU", "count": 2},
                "python_version": "3.11.0",
                "system": "Linux",
            },
            "datetime": "2026-01-02T03:04:05",
        }
    )


def test_tables_have_a_cell_for_every_column() -> None:
    made = tables(results())
    assert [len(table.rows) for table in made] == [1, 1]
    for table in made:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_run_of_a_part_makes_its_tables_alone() -> None:
    everything = results()
    part = Results(everything.of("cpu"), everything.machine, everything.date)
    assert [table.title for table in tables(part)] == [tables(everything)[0].title]


def test_markdown_shows_the_figures_and_the_machine() -> None:
    text = markdown(results())
    assert "| 2.2 MB | 900 | 10.0 | 220 | 0.25 | 0.20 | 1.00 |" in text
    assert "| 2.2 MB | 900 | 1.0/2.0 |" in text
    assert "A | CPU" in text


def test_milliseconds() -> None:
    assert [milliseconds(value) for value in (0.04, 1.25, 99.4, 99.6, 1234.5)] == ["0.0", "1.2", "99.4", "100", "1234"]
