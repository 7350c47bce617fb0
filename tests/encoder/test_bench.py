import sys
from pathlib import Path

import pytest

from encoder.__main__ import main
from encoder.bench import Measured, measure, table
from encoder.errors import EncodeError
from encoder.gaps import Longest
from encoder.probe import StallFigures
from encoder.synthetic import synthetic_episode
from encoder.targets import load_model

SOURCE = """
from pydantic import BaseModel

class Model(BaseModel):
    values: list[int] = [1, 2, 3]

def make():
    return Model()

class Bad(BaseModel):
    text: str = chr(0xD800)
"""
LONGEST = Longest(step_ms=0.26, slice_ms=12345.678)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"module_of_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def test_measures_every_way(module: str) -> None:
    said: list[str] = []
    measured = measure(load_model(f"{module}:make"), runs=1, say=said.append)
    assert measured.size == len('{"values":[1,2,3]}')
    assert measured.is_same
    assert set(measured.cpu_s) == {"plain", "orjson alone", "to_json"}
    assert set(measured.stalls) == {"plain", "to_json", "iter_json", "aiter_json", "idle"}
    assert "stalls of iter_json, run 1 of 1" in said
    assert measured.longest.slice_ms > 0


def test_an_episode_is_measured_as_its_record() -> None:
    episode = synthetic_episode(1, num_nodes=3, tokens_per_node=20)
    assert measure(episode, runs=1).size == len(episode.to_json())


def test_a_model_that_cannot_be_encoded(module: str) -> None:
    with pytest.raises(EncodeError):
        measure(load_model(f"{module}:Bad"), runs=1)


def test_the_table_fits_a_terminal() -> None:
    stall = StallFigures(p50_ms=12345.678, p99_ms=23456.789, worst_ms=34567.891, ticks=1234567)
    ways = ("plain", "to_json", "iter_json", "aiter_json", "idle")
    seconds = {"plain": 100.0, "orjson alone": 12.5, "to_json": 12.25}
    shown = table(Measured(12_345_678_901, True, seconds, dict.fromkeys(ways, stall), LONGEST))
    assert max(map(len, shown.splitlines())) <= 80
    assert "orjson alone" in shown
    assert "0.12" in shown
    assert "longest step 0.26 ms, longest slice 12345.68 ms" in shown


def test_a_small_model_is_shown_in_small_units() -> None:
    small = table(Measured(18, True, {"plain": 2.5e-6, "to_json": 1.5e-6}, {}, LONGEST))
    assert "18 bytes of JSON" in small
    assert "CPU µs" in small
    assert "2.5" in small
    assert "18.0 KB of JSON" in table(Measured(18_000, True, {"plain": 1.0}, {}, LONGEST))


def test_different_bytes_are_shouted() -> None:
    shown = table(Measured(1, False, {"plain": 1.0}, {}, LONGEST))
    assert "DIFFERENT BYTES" in shown


def test_the_command_prints_the_table(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", f"{module}:make", "--runs", "1"]) == 0
    assert "to_json" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "code"), [("nothing", 2), ("Bad", 1)])
def test_the_command_fails_with_a_message(
    module: str, name: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", f"{module}:{name}", "--runs", "1"]) == code
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("arguments", [[], ["bench"], ["bench", "a:b", "--runs", "0"], ["bench", "a:b", "--runs", "x"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "_positive" not in capsys.readouterr().err


def test_progress_is_shown_on_a_terminal(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["bench", f"{module}:make", "--runs", "1"]) == 0
    lines = capsys.readouterr().err.split("\r\x1b[2K")
    assert len(lines) > 2
    assert lines[-1] == ""
    assert all(len(line) < 80 for line in lines)


def test_ctrl_c(module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("encoder.__main__.measure", interrupted)
    assert main(["bench", f"{module}:make"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
