"""Read of a Markdown page what the tests need: its fenced blocks, its headings, its links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r"^#{1,6} +(.*?)[ #]*$")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: the first word behind the fence, like `python`.
        marks: the further words.
        line: the page's line, from 1, that holds the first one of the block.
        source: the lines, without the fence's indentation.
    """

    language: str
    marks: tuple[str, ...]
    line: int
    source: str


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def page_name(page: Path) -> str:
    """A page's path, as it is written in a link from the README."""
    return page.relative_to(ROOT).as_posix()


def fenced_blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, in order.

    Raises:
        ValueError: a block is not closed.
    """
    return [part for part in _parts(text) if isinstance(part, Block)]


def headings(text: str) -> list[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for line in _prose(text):
        if match := _HEADING.match(line):
            plain = re.sub(r"[^\w\- ]", "", match[1].lower()).replace(" ", "-")
            found.append(f"{plain}-{found.count(plain)}" if plain in found else plain)
    return found


def links(text: str) -> list[str]:
    """The targets of all links and images of a page."""
    prose = re.sub(r"`[^`\n]*`", "", "\n".join(_prose(text)))
    return [match[1] for match in _LINK.finditer(prose)]


def _prose(text: str) -> list[str]:
    return [part for part in _parts(text) if isinstance(part, str)]


def _parts(text: str) -> Iterator[str | Block]:
    """The page's lines outside of fences, and its blocks."""
    lines = enumerate(text.splitlines(), start=1)
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            yield line
            continue
        indent, mark, words = len(fence[1]), fence[2], fence[3].split()
        held: list[str] = []
        for _, inner in lines:
            if inner.strip().startswith(mark) and not inner.strip().strip(mark[0]):
                break
            held.append(inner[indent:] if not inner[:indent].strip() else inner)
        else:
            raise ValueError(f"the block that begins at line {number} is not closed")
        language, marks = (words[0], tuple(words[1:])) if words else ("", ())
        yield Block(language, marks, number + 1, "".join(f"{each}\n" for each in held))
