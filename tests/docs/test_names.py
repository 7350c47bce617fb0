"""The pages name all that they are the place to look for, and nothing that is not there."""

import dataclasses
import inspect
import re

import pytest

import uploader
from tests.conftest import ROOT
from tests.docs.markdown import pages
from uploader import errors, monitors
from uploader.options import UploadArguments
from uploader.worker.counts import Counts
from uploader.worker.stats import WorkerStats

MONITORS = [name for name in monitors.__all__ if name.endswith("Monitor") and name != "Monitor"]
ERRORS = [name for name in errors.__all__ if inspect.isclass(getattr(errors, name)) and name != "UploaderError"]
FIGURES = [field.name for field in dataclasses.fields(WorkerStats) if not field.name.endswith("_per_s")]


def words(page: str) -> set[str]:
    """All names in code spans of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {word for span in re.findall(r"`+[^`]+`+", text) for word in re.findall(r"\w+", span)}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("clients.md", ERRORS),
        ("clients.md", list(UploadArguments.__annotations__)),
        ("operating.md", [field.name for field in dataclasses.fields(Counts)]),
        ("operating.md", FIGURES),
        ("orchestrators.md", list(inspect.signature(uploader.init).parameters)),
        ("orchestrators.md", MONITORS),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_all_are_named(page: str, names: list[str]) -> None:
    assert names
    missing = set(names) - words(page)
    assert not missing, f"docs/{page} has nothing about {sorted(missing)}"


def test_modules_that_are_named_are_there() -> None:
    for page in pages():
        for path in re.findall(r"`((?:encoder|uploader|benchmarks|tests)/[\w/.]*)`", page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
