"""One monitor for a folder."""

import errno
from pathlib import Path

import pytest

from uploader.errors import SpoolLockedError
from uploader.monitors import holding as holding_
from uploader.monitors.holding import Holding


def test_a_folder_is_had_by_one(tmp_path: Path) -> None:
    root = tmp_path / "out"
    first, second = Holding(root), Holding(root)
    first.take()
    first.take()
    with pytest.raises(SpoolLockedError, match="another FileMonitor writes there: give each a folder of its own"):
        second.take()
    first.let_go()
    assert list(root.iterdir()) == []
    second.take()
    second.let_go()
    second.let_go()


def test_where_there_are_no_locks_it_is_left_to_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(code: int) -> None:
        def lock(folder: Path) -> None:
            raise OSError(code, "no")

        monkeypatch.setattr(holding_, "FolderLock", lock)

    refuse(errno.ENOSYS)
    holding = Holding(tmp_path)
    holding.take()
    holding.let_go()
    refuse(errno.EACCES)
    with pytest.raises(PermissionError):
        Holding(tmp_path).take()


def test_where_no_folder_can_be_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError):
        Holding(tmp_path / "file").take()
