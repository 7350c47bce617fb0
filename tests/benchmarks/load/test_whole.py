"""A few episodes go the whole way: through every process to the reports."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.load.__main__ import main
from benchmarks.load.cases import Case
from benchmarks.load.measurement import read_results
from benchmarks.load.running import measure


def run(*arguments: str, results: Path) -> Any:
    assert main([*arguments, "--results", str(results)]) == 0
    return read_results(json.loads((results / "load.json").read_bytes()))


@pytest.mark.parametrize(
    ("monitors", "network"),
    [("upload", "none"), ("upload", "transport"), ("plain", "stalled"), ("file", "none"), ("wandb", "none")],
)
def test_a_few_episodes_are_delivered(
    monitors: str, network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choices = ("--episodes", "2", "--monitors", monitors, "--network", network, "--scale", "0.1")
    (measured,) = run(*choices, results=tmp_path).measurements
    assert (measured.delivered, measured.lost, measured.doubled) == (2, 0, 0)
    assert measured.found["log"]["calls"] == 2
    assert measured.found["lag"]["ticks"] > 0
    assert measured.beside["ticks"] > 0
    assert measured.found["outcome"]["requests"] != 0
    assert "became of them" in capsys.readouterr().out
    assert (tmp_path / "load.html").exists()


def test_a_soak_loses_nothing(tmp_path: Path) -> None:
    (soak,) = run("--soak", "0.05", "--scale", "0.05", results=tmp_path).measurements
    assert soak.lost == soak.doubled == 0
    assert soak.found["outcome"]["stored"] == soak.delivered == soak.found["episodes"]
    assert soak.found["rate"] > 0
    assert soak.faults


def test_what_does_not_fit_on_the_disk_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1e9))
    measured = measure(Case("file", None, 1000), lambda share: None)
    assert measured.problem is not None
    assert "has no room for 8 GB: set TMPDIR to another folder" in measured.problem


def test_a_process_that_fails_is_said_and_costs_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.load.running._CHILD", tmp_path / "nowhere.py")
    measured = measure(Case("upload", "transport", 1), lambda share: None)
    assert measured.problem is not None
    assert "nowhere.py" in measured.problem
    assert not measured.found
