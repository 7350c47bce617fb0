from benchmarks.cells import milliseconds, size
from benchmarks.markdown import markdown
from benchmarks.results import Results, read_results
from benchmarks.tables import tables
from tests.benchmarks.made_up import made_up_output


def test_tables_have_a_cell_for_every_column() -> None:
    made = tables(read_results(made_up_output()))
    assert [len(table.rows) for table in made] == [6, 6, 2, 5, 1, 1, 1, 1, 1, 2, 2, 3, 1, 1, 1, 1, 26]
    for table in made:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_run_of_a_part_makes_its_tables_alone() -> None:
    everything = read_results(made_up_output())
    part = Results(everything.of("cpu"), everything.machine, everything.date)
    made = tables(everything)
    assert [table.title for table in tables(part)] == [made[0].title, made[-1].title]


def test_markdown_shows_the_figures_and_the_machine() -> None:
    text = markdown(read_results(made_up_output()))
    assert "| 2.2 MB | 900 | 10.0 | 220 | 0.25 | 0.20 | 1.00 |" in text
    assert "| 2.2 MB | 900 | 1.0/2.0 |" in text
    assert "A | CPU, 0.2 processes busy at the start" in text


def test_milliseconds() -> None:
    assert [milliseconds(value) for value in (0.04, 1.25, 99.4, 99.6, 1234.5)] == ["0.0", "1.2", "99.4", "100", "1234"]


def test_sizes() -> None:
    assert [size(size_mb) for size_mb in (2.2, 133.0, 1000.0)] == ["2.2 MB", "133 MB", "1 GB"]
