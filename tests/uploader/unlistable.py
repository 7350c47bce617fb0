"""A folder that cannot be looked into, also for root, whom no permission stops."""

import os
from pathlib import Path

import pytest


def make_unlistable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let folders of this name refuse to be listed."""
    listdir = os.listdir

    def fail(path: Path) -> list[str]:
        if path.name == name:
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", fail)
