"""The README's examples run, and its set-up commands are the two that are promised."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from uploader.receiver import ReceiverProcess

README = (ROOT / "README.md").read_text()
SET_UP = "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox"


def test_its_examples_run_as_pasted(
    use_receiver: ReceiverProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    blocks = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["stored"] == names["body"] == names["again"].to_json()
    assert names["taken"]
    assert names["report"].is_complete
    assert [receipt.status for receipt in names["receipts"]] == ["committed"]


@pytest.mark.parametrize("command", [SET_UP, f"{SET_UP} -e quickstart"])
def test_its_set_up_commands(command: str) -> None:
    assert len(re.findall(rf"^ +{re.escape(command)}$", README, re.MULTILINE)) == 1


def test_there_are_no_others() -> None:
    in_blocks = re.findall(r"^ {4,}.*pip install.*$", README, re.MULTILINE)
    assert len(in_blocks) == README.count("pip install tox") == 2
    assert README.count("venv .venv") == 2


def test_its_lines_are_not_too_long() -> None:
    assert [line for line in README.splitlines() if len(line) > 120 and not line.startswith("|")] == []
