"""One monitor for a folder."""

import errno
import shutil
import threading
from pathlib import Path
from typing import Any

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


def test_what_is_open_is_noted_until_the_end(tmp_path: Path) -> None:
    root = tmp_path / "out"
    holding = Holding(root)
    holding.take()
    for names in (["a"], ["a", "b/c"]):
        holding.note_open(root / name for name in names)
        assert (root / ".file-monitor" / "open").read_text().splitlines() == names
    shutil.rmtree(root)  # by somebody
    holding.note_open([root / "a"])
    holding.let_go()
    assert list(root.iterdir()) == []


def test_what_was_let_go_is_the_next_ones(tmp_path: Path) -> None:
    first, second = Holding(tmp_path), Holding(tmp_path)
    first.take()
    first.let_go()
    second.take()
    second.note_open([tmp_path / "a"])
    first.let_go()
    assert (tmp_path / ".file-monitor" / "open").exists()
    second.let_go()


def test_it_is_mended_once_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, mended = threading.Event(), threading.Event(), list[list[str]]()

    def mend(root: Path, noted: Any) -> None:
        begun.set()
        assert go_on.wait(30)
        mended.append(list(noted))

    monkeypatch.setattr(holding_, "mend", mend)
    monkeypatch.setattr(holding_, "_PATIENCE_S", 0.01)
    (tmp_path / ".file-monitor").mkdir()
    (tmp_path / ".file-monitor" / "open").write_text("a\nb\n")
    holding = Holding(tmp_path)
    threads = [threading.Thread(target=holding.take) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    holding.let_go()  # somebody is at it, and may cut a file
    with pytest.raises(SpoolLockedError):
        Holding(tmp_path).take()
    go_on.set()
    for thread in threads:
        thread.join()
    assert mended == [["a", "b"]]
    holding.let_go()
    assert list(tmp_path.iterdir()) == []


def test_where_no_folder_can_be_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError):
        Holding(tmp_path / "file").take()
