"""Batches go to disk, to memory while the disk takes none, and wait where there is no room at all."""

import threading
from pathlib import Path

import pytest

from tests.uploader.spool.support import TRACES
from tests.uploader.worker.doubles import TIMEOUT_S, FakeFolder, until
from uploader.errors import SpoolError, SpoolFullError
from uploader.models import LineFormat
from uploader.sealing import SealedBatch, Sealer
from uploader.spool.batches import Folder, SpooledBatch
from uploader.spool.folder import DiskFolder
from uploader.spool.memory import MemoryFolder
from uploader.spool.room import SpoolLimits
from uploader.worker.keeping import Keeper


def batch() -> SealedBatch:
    sealer = Sealer()
    sealer.add([b"{}\n"], 3, 1)
    return sealer.seal()


def new(disk: FakeFolder | None, memory: int = 1) -> tuple[Keeper, FakeFolder, list[Exception]]:
    trouble: list[Exception] = []
    kept = FakeFolder(on_disk=False, max_batches=memory)
    keeper = Keeper(None if disk is None else lambda: disk, kept, trouble.append, trouble.append)
    keeper.open()
    return keeper, kept, trouble


def kept_in_thread(keeper: Keeper) -> tuple[threading.Thread, list[tuple[Folder, SpooledBatch] | None]]:
    results: list[tuple[Folder, SpooledBatch] | None] = []
    thread = threading.Thread(target=lambda: results.append(keeper.keep(LineFormat.TRACE, batch())))
    thread.start()
    return thread, results


@pytest.mark.parametrize("error", [SpoolFullError("x", "full"), SpoolError("x", "read-only"), RuntimeError("a bug")])
def test_while_the_disk_takes_none_they_are_in_memory(error: Exception) -> None:
    disk = FakeFolder()
    keeper, memory, trouble = new(disk)
    disk.trouble = [error]
    first, second = (keeper.keep(LineFormat.TRACE, batch()) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first[0], second[0]) == (memory, disk)
    assert trouble == [error]
    assert keeper.used_bytes == first[1].compressed_size + second[1].compressed_size


def test_without_a_disk_they_wait_until_memory_has_room() -> None:
    keeper, memory, _ = new(None)
    first = keeper.keep(LineFormat.TRACE, batch())
    assert first is not None
    asked = threading.Event()
    memory.on_add = asked.set
    thread, results = kept_in_thread(keeper)
    assert asked.wait(TIMEOUT_S)
    assert results == []
    keeper.remove(*first)
    keeper.made_room()
    thread.join(TIMEOUT_S)
    assert [found[0] for found in results if found] == [memory]


def test_while_they_wait_the_disk_may_get_room() -> None:
    disk = FakeFolder()
    keeper, _, trouble = new(disk, memory=0)
    disk.trouble = [SpoolFullError("x", "full") for _ in range(3)]
    found = keeper.keep(LineFormat.TRACE, batch())
    assert found is not None
    assert found[0] is disk
    assert len(trouble) == 1  # said once for each batch, not for each look


def test_at_the_end_nothing_waits_any_more() -> None:
    keeper, memory, _ = new(None, memory=0)
    asked = threading.Event()
    memory.on_add = asked.set
    thread, results = kept_in_thread(keeper)
    assert asked.wait(TIMEOUT_S)
    keeper.stop()
    thread.join(TIMEOUT_S)
    assert results == [None]


def test_what_cannot_be_synced_is_said() -> None:
    disk = FakeFolder()
    keeper, _, trouble = new(disk)
    assert keeper.sync()
    disk.sync_error = SpoolError("x", "gone")
    assert not keeper.sync()
    assert trouble == [disk.sync_error]
    assert new(None)[0].sync()


def test_closing_closes_both() -> None:
    disk = FakeFolder()
    keeper, memory, _ = new(disk)
    keeper.close()
    until(disk.closed.is_set)
    assert memory.closed.is_set()


def test_what_the_disk_does_not_take_of_what_is_set_aside_is_kept_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = DiskFolder.open(tmp_path, "run", [TRACES], limits=SpoolLimits(0, 0))
    memory = MemoryFolder("run", [TRACES], max_batches=1)
    keeper = Keeper(lambda: disk, memory, lambda error: None, lambda error: None)
    keeper.open()
    keeper.set_aside_line(LineFormat.TRACE, lambda: iter([b"1"]), "bad")
    assert list(keeper.set_aside) == []
    disk.close()
    keeper.set_aside_line(LineFormat.TRACE, lambda: iter([b"2\n", b"3\n"]), "worse", num_lines=2)
    assert [(each.num_records, each.reason, each.content) for each in keeper.set_aside] == [(2, "worse", b"2\n3\n")]
    assert "in memory alone" in caplog.text
    assert new(disk=None)[0].set_aside == ()
