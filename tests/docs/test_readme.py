"""The README's set-up commands are the two that are promised, and its extras are those that there are."""

import re
import tomllib

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
SET_UP = "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox"


@pytest.mark.parametrize("command", [SET_UP, f"{SET_UP} -e quickstart"])
def test_its_set_up_commands(command: str) -> None:
    assert len(re.findall(rf"^ +{re.escape(command)}$", README, re.MULTILINE)) == 1


def test_there_are_no_others() -> None:
    in_blocks = re.findall(r"^ {4,}.*pip install.*$", README, re.MULTILINE)
    assert len(in_blocks) == README.count("pip install tox") == 2
    assert README.count("venv .venv") == 2


def test_its_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in project["optional-dependencies"]:
        assert re.search(rf"`{extra}`|\[{extra}\]", README), f"it does not name the extra {extra}"
