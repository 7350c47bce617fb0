"""SIGKILL at random moments: what a flush confirmed is stored once after resuming, and every file is known.

`benchmarks/test_runs.py` does the same more often; `tests/uploader/spool/test_killed.py` between any two system calls.
"""

import os
from pathlib import Path

import pytest

from tests.benchmarks.registering import register_benchmarks
from uploader.receiver import ReceiverProcess

register_benchmarks()

from benchmarks.killing import kill  # noqa: E402 - it must be importable first
from benchmarks.sides import KEY  # noqa: E402


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL here")
def test_what_was_confirmed_is_stored_once(tmp_path: Path) -> None:
    with ReceiverProcess(tmp_path / "data", KEY) as receiver:
        kills = kill(receiver.url, tmp_path / "data", tmp_path / "spool", rounds=4, seed=4)
    assert len(kills.moments) == 4
    assert kills.lost == set()
    assert kills.doubled == set()
    assert (kills.left, kills.unexplained) == (0, [])
