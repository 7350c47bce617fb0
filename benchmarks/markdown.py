"""The tables in Markdown, ready for a README."""

from benchmarks.cells import Table
from benchmarks.results import Results
from benchmarks.tables import tables


def markdown(results: Results) -> str:
    """All tables, and where they were measured."""
    parts = [markdown_table(table) for table in tables(results)]
    return "\n\n".join([*parts, f"Measured {results.date[:10]} on {results.machine}."]) + "\n"


def markdown_table(table: Table) -> str:
    """One table."""
    marks = [":--" if position < table.num_labels else "--:" for position in range(len(table.columns))]
    lines = [table.columns, marks, *table.rows]
    text = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
    note = f"\n\n{table.note}" if table.note else ""
    return f"**{table.title}**\n\n{text}{note}"
