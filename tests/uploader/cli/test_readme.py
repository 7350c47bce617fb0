"""The README's examples run, and its set-up commands are the two that are promised."""

import ast
import asyncio
import inspect
import re
from types import CodeType
from typing import Any

import pytest

from tests.conftest import ROOT
from uploader.receiver import ReceiverProcess

README = (ROOT / "README.md").read_text()
SET_UP = "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox"


def compiled(block: str) -> CodeType:
    code: CodeType = compile(block, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return code


def test_its_examples_run(use_receiver: ReceiverProcess) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}

    async def run_all() -> None:
        for block in blocks:
            result = eval(compiled(block), names)
            if inspect.isawaitable(result):
                await result

    asyncio.run(run_all())
    assert names["stored"] == names["body"] == names["again"].to_json()
    assert [receipt.status for receipt in names["receipts"]] == ["committed"]


@pytest.mark.parametrize("command", [SET_UP, f"{SET_UP} -e quickstart"])
def test_its_set_up_commands(command: str) -> None:
    assert len(re.findall(rf"^ +{re.escape(command)}$", README, re.MULTILINE)) == 1


def test_there_are_no_others() -> None:
    assert README.count("pip install") == 2
    assert README.count("venv .venv") == 2


def test_its_lines_are_not_too_long() -> None:
    assert [line for line in README.splitlines() if len(line) > 125 and not line.startswith("|")] == []
