import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.uploader.spool.support import forked
from uploader.errors import SpoolLockedError
from uploader.spool.locks import FolderLock, is_locked
from uploader.testing import fake_time

HOLDER = """
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from uploader.spool.locks import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_one_user_at_a_time(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    lock = FolderLock(tmp_path)
    assert is_locked(tmp_path)
    with fake_time(), pytest.raises(SpoolLockedError):
        FolderLock(tmp_path)
    lock.release()
    assert not is_locked(tmp_path)
    FolderLock(tmp_path).release()


def test_another_process_holds_it_until_it_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_locked(tmp_path)
        with fake_time(), pytest.raises(SpoolLockedError):
            FolderLock(tmp_path)
        holder.kill()
    assert not is_locked(tmp_path)


def test_a_lock_on_a_removed_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open
    removed: list[Path] = []

    def open_and_remove(path: Path, *arguments: int) -> int:
        descriptor = opened(path, *arguments)
        if not removed:  # as the folder's last user does, just before the lock is taken
            os.unlink(path)
            removed.append(path)
        return descriptor

    monkeypatch.setattr(os, "open", open_and_remove)
    lock = FolderLock(tmp_path)
    assert removed
    assert is_locked(tmp_path)
    lock.release()


def test_a_child_leaves_the_lock_to_its_parent(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    descriptor = lock._descriptor
    assert descriptor is not None

    def child_has_closed_it() -> bool:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
        lock.abandon()  # once more changes nothing
        return not lock.is_held and is_locked(tmp_path)

    assert forked(child_has_closed_it)
    assert is_locked(tmp_path)
    lock.release()
    assert not is_locked(tmp_path)


def test_a_child_that_lives_on_keeps_no_folder_locked(tmp_path: Path) -> None:
    program = f"""
import os, subprocess, sys
from pathlib import Path
from uploader.spool.locks import FolderLock
lock = FolderLock(Path({str(tmp_path)!r}))
if os.fork() == 0:
    print(os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(0)
os.kill(os.getpid(), 9)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.wait()
        os.kill(child, 0)  # it lives
        assert not is_locked(tmp_path)
