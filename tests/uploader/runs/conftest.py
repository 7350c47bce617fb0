"""Runs without the user's settings, each finished before the next test."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.uploader.runs.support import FakeWorker
from uploader.runs import Run, exits, start


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("PRIME_API_KEY", "PRIME_TRACES_URL", "PRIME_TEAM_ID", "PRIME_API_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    for run in list(exits._open.values()):
        assert isinstance(run, Run)
        run._parts.metrics.close(0)
        exits.forget(run)
    for thread in threading.enumerate():
        if thread.name in ("uploader-metrics", "uploader-finish"):
            thread.join(2)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeWorker:
    """What every run of this test has for a worker."""
    fake = FakeWorker(tmp_path / "spool" / "run")

    def open_worker(*arguments: Any, must_have_spool: bool) -> FakeWorker:
        return fake

    monkeypatch.setattr(start, "open_worker", open_worker)
    return fake
