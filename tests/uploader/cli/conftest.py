"""What the tests of the command line share: a real receiver, files of lines, the command itself."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from uploader.cli.app import run
from uploader.receiver import ReceiverProcess

KEY = "key-that-must-not-appear"


@dataclass
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the user's settings nor a terminal's."""
    for name in ("PRIME_API_KEY", "PRIME_TEAM_ID", "PRIME_TRACES_URL", "PRIME_API_BASE_URL", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process."""

    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiverProcess]:
    """A receiver that asks for a key."""
    with ReceiverProcess(tmp_path_factory.mktemp("receiver"), KEY) as process:
        yield process


@pytest.fixture
def use_receiver(receiver: ReceiverProcess, monkeypatch: pytest.MonkeyPatch) -> ReceiverProcess:
    """The receiver, named by the environment."""
    monkeypatch.setenv("PRIME_TRACES_URL", receiver.url)
    monkeypatch.setenv("PRIME_API_KEY", KEY)
    return receiver


# A shell has its background jobs ignore Ctrl-C, and their children with them.
LAUNCHER = """
import signal, sys
from uploader.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start the command as a process of its own, which listens to Ctrl-C whoever runs the tests."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", LAUNCHER, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )


def trace_line(name: str, padding: int = 0) -> bytes:
    """A bare trace as a line; the receiver indexes its id."""
    trace: dict[str, Any] = {
        "version": 1,
        "id": name,
        "task": {"type": "Test", "data": {}},
        "agent": {"name": "agent", "config": {}},
        "nodes": [],
        "timing": {"start": 1.0},
        "info": {"padding": "x" * padding},
    }
    return json.dumps(trace).encode() + b"\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Writes a file."""

    def create(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return create
