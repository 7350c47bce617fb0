"""Fixtures every test may use: the real chats, found or skipped aloud."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("unstall", deadline=None)
settings.load_profile("unstall")

ROOT = Path(__file__).resolve().parent.parent


def data_file(name: str) -> Path:
    """The path of a data file; without it the test skips, except under CI=true, where it fails."""
    folder = Path(os.environ.get("UNSTALL_DATA") or ROOT.parent / "shared" / "data")
    path = folder / name
    if not path.exists():
        message = f"{name} not found: set UNSTALL_DATA to the folder that holds it"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


def read_chats(path: Path) -> list[dict[str, Any]]:
    """The chats of a JSONL file, split on LF bytes only."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]


@pytest.fixture(scope="session")
def trajectories_path() -> Path:
    """The file of real chats."""
    return data_file("trajectories.jsonl")


@pytest.fixture(scope="session")
def edge_path() -> Path:
    """The file of edge-case chats."""
    return data_file("edge.jsonl")


@pytest.fixture(scope="session")
def trajectories(trajectories_path: Path) -> list[dict[str, Any]]:
    """The real chats."""
    return read_chats(trajectories_path)


@pytest.fixture(scope="session")
def edge_chats(edge_path: Path) -> list[dict[str, Any]]:
    """The edge-case chats."""
    return read_chats(edge_path)
