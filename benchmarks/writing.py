"""Write the report's files."""

from pathlib import Path

from benchmarks.markdown import markdown
from benchmarks.page import page
from benchmarks.results import Results


def write_reports(results: Results, folder: Path) -> list[Path]:
    """Write the reports into a folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = {"report.html": page(results), "tables.md": markdown(results)}
    paths = []
    for name, text in documents.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
