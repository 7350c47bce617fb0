"""Put drawings together as one SVG file that needs nothing else, for pages that are not HTML of our own."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from benchmarks.svg import element

_STYLE = Path(__file__).with_name("drawings.css")
_BOX = re.compile(r'^<svg viewBox="0 0 (\d+) (\d+)"')
_MARGIN, _GAP, _LEGEND, _FOOT = 12, 20, 26, 18
_KEY, _LETTER = 24, 6.6


def picture(
    title: str,
    drawings: Sequence[str],
    legend: Sequence[tuple[str, str]] = (),
    origin: str = "",
    *,
    per_row: int = 2,
) -> str:
    """The file's text.

    Args:
        title: what it shows, for those who cannot see it.
        drawings: plots, as `benchmarks.svg` makes them.
        legend: names, and the classes of the style sheet that colour them.
        origin: when and where it was measured.
        per_row: how many plots stand side by side.
    """
    top = _MARGIN + (_LEGEND if legend else 0)
    placed: list[str] = []
    width = 0
    for start in range(0, len(drawings), per_row):
        left, height = _MARGIN, 0
        for drawing in drawings[start : start + per_row]:
            drawing_width, drawing_height = _size(drawing)
            placed.append(drawing.replace("<svg ", f'<svg x="{left}" y="{top}" height="{drawing_height}" ', 1))
            left, height = left + drawing_width + _GAP, max(height, drawing_height)
        width, top = max(width, left - _GAP + _MARGIN), top + height + _GAP
    height = top - _GAP + _MARGIN + (_FOOT if origin else 0)
    style = element("style", f"\n{_STYLE.read_text(encoding='utf-8')}")
    # An image has no page behind it: without a ground of its own, dark text might stand on a dark page.
    ground = element("rect", width=width, height=height, rx=6, style="fill: var(--page)")
    foot = [element("text", escape(origin), x=_MARGIN, y=height - _MARGIN)] if origin else []
    parts = [element("title", escape(title)), style, ground, *_keys(legend), *placed, *foot]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _size(drawing: str) -> tuple[int, int]:
    box = _BOX.match(drawing)
    if box is None:
        raise ValueError(f"this is no drawing: {drawing[:40]}")
    return int(box[1]), int(box[2])


def _keys(legend: Sequence[tuple[str, str]]) -> Iterator[str]:
    left = float(_MARGIN)
    for name, class_ in legend:
        yield element("rect", x=left, y=_MARGIN + 3.0, width=18, height=4, rx=2, class_=f"bar {class_}")
        yield element("text", escape(name), x=left + _KEY, y=_MARGIN + 9.0, class_="row-name")
        left += _KEY + _LETTER * len(name) + 18
