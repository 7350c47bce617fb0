"""The pages of the documentation hang together."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.markdown import headings, links, page_name, pages

MAX_COLUMNS = 120
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.md"))


@pytest.mark.parametrize("page", [*pages(), *BENCHMARKS], ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page if not path else page.parent / path
        assert target.is_file(), f"{link}: there is no such file"
        if anchor:
            assert anchor in headings(target.read_text(encoding="utf-8")), f"{link}: there is no such heading"


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    named = {(index.parent / link.partition("#")[0]).resolve() for link in links(index.read_text(encoding="utf-8"))}
    missing = [page_name(page) for page in pages()[1:] if page != index and page not in named]
    assert not missing, f"docs/README.md has no link to {missing}"
    assert "docs/README.md" in links((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_lines_are_not_too_long(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > MAX_COLUMNS and not line.startswith("|")] == []


def test_every_plot_is_shown() -> None:
    shown = {(page.parent / link).resolve() for page in pages() for link in links(page.read_text(encoding="utf-8"))}
    missing = [plot.name for plot in (ROOT / "docs" / "plots").glob("*.svg") if plot not in shown]
    assert not missing, f"no page shows {missing}"
