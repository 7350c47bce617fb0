"""Runs what is compared with the oracle once with the fast paths, and again with them switched off.

That is every test of a module that imports `assert_same`, and every test marked `every_path`; those that are marked
`planned` leave out the way that has no plans. All others look at the fast paths themselves and run with them alone.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType

import pytest
from hypothesis import settings

from encoder.paths import PATHS
from tests.benchmarks.registering import register_benchmarks
from tests.encoder.ways import ALL_FAST, COLUMN_WAYS, DUMPED, WAYS, Way

register_benchmarks()  # whose shapes are tested here, too


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask for each way that a test is to be run."""
    node = metafunc.definition
    if node.get_closest_marker("every_path") or hasattr(metafunc.module, "assert_same"):
        ways: tuple[Way, ...] = COLUMN_WAYS if "columns" in metafunc.module.__name__ else WAYS
        if node.get_closest_marker("planned"):
            ways = tuple(way for way in ways if way is not DUMPED)
        metafunc.parametrize("way", ways, indirect=True, ids=lambda way: way.name)


@pytest.fixture(autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Way]:
    """The fast paths that a test may take: all of them, unless it is run every way."""
    found: Way = getattr(request, "param", ALL_FAST)
    test = request.function
    if found is not ALL_FAST and getattr(test, "is_hypothesis_test", False):
        share_examples(test, found, monkeypatch)
    with PATHS.only(**found.switches), measured_as(found):
        yield found


@contextmanager
def measured_as(way: Way) -> Iterator[None]:
    """Have coverage, where it is measured, tell the ways apart."""
    coverage = sys.modules.get("coverage")
    measuring = coverage and coverage.Coverage.current()
    if measuring:
        measuring.switch_context(way.name)
    yield
    if measuring:
        measuring.switch_context("")


def share_examples(test: FunctionType, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a way its share of a test's generated examples; Hypothesis offers no public name for that."""
    name = "_hypothesis_internal_use_settings"
    whole: settings = getattr(test, name)
    monkeypatch.setattr(test, name, settings(whole, max_examples=max(1, whole.max_examples // way.divisor)))
