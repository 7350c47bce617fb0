import re
from pathlib import Path

import pytest

from benchmarks.load.cases import NETWORKS, PARTS
from benchmarks.load.options import DEFAULT_MONITORS, parse
from tests.conftest import ROOT


def test_by_default_everything_is_measured_once() -> None:
    options = parse([])
    assert options.results == Path("load-results")
    assert {case.monitors for case in options.cases} == set(DEFAULT_MONITORS) == set(PARTS)
    assert {case.network for case in options.cases} == {*NETWORKS, None}
    assert not any(case.soak_s for case in options.cases)


def test_by_default_it_ends_within_some_ten_minutes() -> None:
    assert sum(case.expected_s for case in parse([]).cases) < 12 * 60


def test_only_a_receiver_gives_way() -> None:
    arguments = "--episodes 5 --monitors upload file --network none transport --receiver-idle"
    found = parse(arguments.split()).cases
    assert [case.name for case in found] == ["upload, none, 5, idle receiver", "upload, transport, 5", "file, 5"]


def test_a_soak_alone() -> None:
    (soak,) = parse(["--soak"]).cases
    assert soak.soak_s == 1200.0
    (soak,) = parse(["--soak", "0.5", "--monitors", "file"]).cases
    assert soak.soak_s == 30.0


def test_a_soak_beside_others() -> None:
    found = parse(["--soak", "1", "--episodes", "5", "--monitors", "file", "--runs", "2"]).cases
    assert [case.name for case in found] == ["file, 5", "file, 5", "soak, 1 min"]


@pytest.mark.parametrize(
    "arguments",
    ["--episodes 0", "--monitors other", "--network fast", "--runs -1", "--soak -2", "--scale 0"],
)
def test_what_cannot_be_meant_is_refused(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        parse(arguments.split())
    assert raised.value.code == 2
    assert arguments.split()[0] in capsys.readouterr().err


def test_the_help_names_every_choice(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    shown = capsys.readouterr().out
    assert not [name for name in (*PARTS, *NETWORKS) if name not in shown]


def test_the_page_names_every_choice(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        parse(["--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert len(options) >= 7
    assert not [name for name in options if not re.search(rf"`[^`\n]*{name}\b|^    .* {name}\b", page, re.MULTILINE)]
    assert not [name for name in (*PARTS, *NETWORKS) if f"`{name}`" not in page]
