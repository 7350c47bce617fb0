"""Put together an HTML page of plots and tables that needs nothing else."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from benchmarks.cells import Table
from benchmarks.verdicts import Verdict

_FOLDER = Path(__file__).parent
_STYLES = ("drawings.css", "report.css")


def document(title: str, origin: str, body: str) -> str:
    """The whole page.

    Args:
        title: what it is about.
        origin: when and where that was measured.
        body: its sections, as markup.
    """
    style = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in _STYLES)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape(title)}</h1><p class="origin">{escape(origin)}</p></header>\n'
        f"<main>\n{body}</main>\n</body>\n</html>\n"
    )


def section(
    title: str,
    text: str,
    drawings: Sequence[str],
    shown: Sequence[Table],
    legend: Sequence[tuple[str, str]] = (),
) -> str:
    """Plots and tables below some text; empty where there is neither.

    Args:
        title: its heading.
        text: what it shows.
        drawings: plots, as markup.
        shown: tables, of which those without rows are left out.
        legend: names, and the classes of the style sheet that colour them.
    """
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


def cards(found: Sequence[Verdict]) -> str:
    """What is to be reached, a card each; empty where nothing was measured."""
    shown = "".join(
        f'<div class="card {"met" if verdict.is_met else "missed"}"><div class="what">{escape(verdict.what)}</div>'
        f'<div class="figure">{escape(verdict.value)}</div>'
        f'<div class="limit-of">{"within" if verdict.is_met else "beyond"} {escape(verdict.limit)}</div>'
        f'<div class="where">{escape(verdict.where)}</div></div>\n'
        for verdict in found
    )
    if not shown:
        return ""
    return (
        "<section>\n<h2>What is to be reached</h2>\n<p>For each bound the benchmark that comes closest to it or goes "
        f'farthest beyond.</p>\n<div class="cards">\n{shown}</div>\n</section>\n'
    )
