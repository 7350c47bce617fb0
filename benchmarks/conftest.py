"""Options, fixtures and the report at the end."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.progress import Progress
from benchmarks.results import read_results
from benchmarks.settings import TOKENS_PER_NODE, Settings
from benchmarks.tables import tables
from benchmarks.terminal import print_tables
from benchmarks.writing import write_reports
from encoder import Episode
from encoder.synthetic import synthetic_episode

_RESULTS = pytest.StashKey[dict[str, Any]]()
_LOAD = pytest.StashKey[float | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("unstall")
    large = os.environ.get("UNSTALL_BENCH_LARGE", "") not in ("", "0")
    group.addoption("--large", action="store_true", default=large, help="also 133 MB and 1 GB; takes an hour")
    group.addoption(
        "--runs", type=int, default=None, metavar="N", help="probed runs of a benchmark: 5, of shapes 3; 10 if large"
    )
    group.addoption("--results", type=Path, default=Path("bench-results"), metavar="DIR", help="where reports go")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LOAD] = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if config.option.benchmark_json is None:
        config.option.benchmark_json = config.option.results / "benchmarks.json"
    config.option.benchmark_json.parent.mkdir(parents=True, exist_ok=True)
    config.option.benchmark_quiet = not config.option.benchmark_verbose  # our table stands for its own


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "size_mb" in metafunc.fixturenames:
        metafunc.parametrize("size_mb", _settings(metafunc.config).sizes_mb, ids=lambda size: f"{size:g}MB")
    if "memory_size_mb" in metafunc.fixturenames:
        sizes_mb = _settings(metafunc.config).memory_sizes_mb
        metafunc.parametrize("memory_size_mb", sizes_mb, ids=lambda size: f"{size:g}MB")
    if "tokens" in metafunc.fixturenames:
        metafunc.parametrize("tokens", TOKENS_PER_NODE, ids=lambda tokens: f"{tokens}tokens")


def _settings(config: pytest.Config) -> Settings:
    return Settings(config.option.large, config.option.runs)


@pytest.fixture(scope="session")
def settings(pytestconfig: pytest.Config) -> Settings:
    return _settings(pytestconfig)


@pytest.fixture(scope="session")
def progress(pytestconfig: pytest.Config) -> Progress:
    return Progress(pytestconfig)


@pytest.fixture(scope="session")
def episode_of() -> Callable[[float, int], Episode]:
    """Make an episode of some megabytes and tokens a node; the last one is kept for the next benchmark."""
    last: dict[tuple[float, int], Episode] = {}

    def make(size_mb: float, tokens: int) -> Episode:
        if (size_mb, tokens) not in last:
            last.clear()
            last[size_mb, tokens] = synthetic_episode(7, target_bytes=round(size_mb * 1e6), tokens_per_node=tokens)
        return last[size_mb, tokens]

    return make


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    machine_info["load"] = config.stash[_LOAD]


def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    config.stash[_RESULTS] = output_json


def pytest_terminal_summary(config: pytest.Config) -> None:
    output = config.stash.get(_RESULTS, None)
    if output is None:
        return
    results = read_results(output)
    written = write_reports(results, config.option.results)
    print_tables(tables(results), [config.option.benchmark_json, *written])
