"""W&B itself, offline: what it stored, read from its files."""

import json
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.uploader.monitors.wandb_child import STEPS

ENDINGS = {"end": 0, "exit": 1}

_BLOCK = 32 * 1024
_HEADER = 7


def records(path: Path) -> Iterator[bytes]:
    """The records of a file in LevelDB's log format, which W&B's offline files have, behind a header of their own."""
    content = path.read_bytes()
    assert content[:4] == b":W&B"
    position, parts = _HEADER, []
    while position < len(content):
        left = _BLOCK - position % _BLOCK
        if left < _HEADER:  # the rest of a block is padding
            position += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, position)
        start = position + _HEADER
        parts.append(content[start : start + length])
        position = start + length
        if kind in (1, 4):  # whole, or the last part
            yield b"".join(parts)
            parts.clear()
    assert not parts


# In a process of its own, and with an empty module for W&B: only the form of its records is needed.
READ = """
import importlib.util, json, sys, types
from pathlib import Path
found = importlib.util.find_spec("wandb")
sys.modules["wandb"] = types.ModuleType("wandb")
sys.modules["wandb"].__path__ = found.submodule_search_locations
from tests.uploader.monitors.test_wandb_offline import records
from wandb.proto.wandb_internal_pb2 import Record

for path in sys.argv[1:]:
    rows = []
    for record in map(Record.FromString, records(Path(path))):
        items = {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        rows += [items] if items else []
        rows += [{"exit_code": record.exit.exit_code}] if record.HasField("exit") else []
    print(json.dumps(rows))
"""


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of two runs, one finalized and one left to the interpreter's exit."""
    folders = {}
    for how in ENDINGS:
        root = tmp_path_factory.mktemp(how)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
        environment |= {"WANDB_MODE": "offline", "HOME": str(root), "XDG_CACHE_HOME": str(root / "cache")}
        done = subprocess.run(
            [sys.executable, "-m", "tests.uploader.monitors.wandb_child", str(root), how],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert int(done.stdout.splitlines()[0]) >= 3 * len(STEPS)
        (folders[how],) = (root / "wandb").glob("offline-run-*-run1")
    return folders


@pytest.fixture(scope="module")
def histories(logged: dict[str, Path]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each run's history, and its end."""
    paths = [str(folder / "run-run1.wandb") for folder in logged.values()]
    done = subprocess.run([sys.executable, "-c", READ, *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(logged, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("how", ENDINGS)
def test_metrics_are_there_in_order(histories: dict[str, list[dict[str, Any]]], how: str) -> None:
    rows = histories[how]
    assert [(row["step"], row["loss"]) for row in rows if "loss" in row] == [(step, 1 / (step + 1)) for step in STEPS]
    of_eval = [(row["step"], row["eval/reward"]) for row in rows if "eval/reward" in row]
    assert of_eval == [(step, 0.5) for step in STEPS]
    assert not [row for row in rows if "nan" in row]
    assert rows[-1] == {"exit_code": ENDINGS[how]}


@pytest.mark.parametrize("how", ENDINGS)
def test_each_step_has_its_table(logged: dict[str, Path], histories: dict[str, list[dict[str, Any]]], how: str) -> None:
    tables = {row["step"]: row for row in histories[how] if "episodes.path" in row}
    assert sorted(tables) == sorted(STEPS)
    for step, row in tables.items():
        table = json.loads((logged[how] / "files" / row["episodes.path"]).read_text())
        assert len(table["data"]) == row["episodes.nrows"] == 3
        assert {cells[0] for cells in table["data"]} == {step}
        messages = table["columns"].index("messages")
        assert all(cells[messages].startswith("[system] ") for cells in table["data"])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked at in /proc")
def test_no_process_is_left_behind(logged: dict[str, Path]) -> None:
    roots = [str(folder.parent.parent).encode() for folder in logged.values()]
    deadline_s = time.monotonic() + 60  # W&B's process ends when it notices that its parent has
    while left := processes_of(roots):
        assert time.monotonic() < deadline_s, left
        time.sleep(0.05)


def processes_of(roots: list[bytes]) -> list[bytes]:
    """The command lines of processes whose environment names one of these."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            if any(root in environment for root in roots):
                found.append((process / "cmdline").read_bytes())
        except OSError:
            continue
    return found
