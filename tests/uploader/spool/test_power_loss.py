"""A loss of power takes the content of every file that was not synced, though its name is there."""

import os
from pathlib import Path

import pytest

from tests.uploader.spool.support import FILES, TRACES, content, seal
from uploader.dividing import divide
from uploader.errors import DamagedBatchError
from uploader.models import LineFormat
from uploader.spool.batches import SpooledBatch
from uploader.spool.folder import DiskFolder
from uploader.spool.room import SpoolLimits

EPISODE = LineFormat.EPISODE


class Disk:
    """Knows which files were synced, and loses the others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: dict[int, int] = {}
        monkeypatch.setattr(os, "fsync", self._fsync)

    def _fsync(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self.synced[status.st_ino] = status.st_size

    def lose_power(self, root: Path) -> None:
        for path in root.rglob("*"):
            if path.is_file():
                os.truncate(path, self.synced.get(path.stat().st_ino, 0))


def opened(root: Path) -> DiskFolder:
    return DiskFolder.open(root, "run", [TRACES, FILES], limits=SpoolLimits(10**12, 0))


def loaded(folder: DiskFolder) -> list[bytes]:
    return [content(folder.load(spooled)) for spooled in folder.waiting()]


def test_what_was_synced_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, folder = Disk(monkeypatch), opened(tmp_path)
    halves = seal(b"1\n", b"2\n")
    kept = folder.add(EPISODE, seal(b"kept\n"))
    folder.divide(folder.add(EPISODE, halves), divide(halves))
    folder.set_aside(folder.add(EPISODE, seal(b"bad\n", b"bad\n")), "bad")
    folder.sync()
    folder.acknowledge(kept, "files")  # its manifest is written anew
    folder.add(EPISODE, seal(b"not synced\n"))
    folder._lock.release()
    disk.lose_power(tmp_path)
    again = opened(tmp_path)
    assert loaded(again) == [b"kept\n", b"1\n", b"2\n"]
    assert again.waiting()[0].waiting_for == (TRACES,)
    (problem,) = again.take_problems()
    assert isinstance(problem, DamagedBatchError)
    assert problem.num_records is None
    again.close()


def test_a_power_loss_without_a_sync_leaves_a_folder_that_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, folder = Disk(monkeypatch), opened(tmp_path)
    spooled: list[SpooledBatch] = [folder.add(EPISODE, seal(b"%d\n" % number)) for number in range(3)]
    folder.set_aside(spooled[0], "bad")
    folder._lock.release()
    disk.lose_power(tmp_path)
    again = opened(tmp_path)
    assert again.waiting() == []
    assert len(again.take_problems()) == 2
    assert again.add(EPISODE, seal(b"new\n")).seq == 4
    again.close()
