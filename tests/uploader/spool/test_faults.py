"""Full disks, disks that take nothing, other processes, forks."""

import errno
import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.uploader.spool.disks import FullDisk, make_read_only
from tests.uploader.spool.support import FILES, TRACES, content, forked, seal
from uploader.dividing import divide
from uploader.errors import SpoolError, SpoolFullError
from uploader.models import LineFormat
from uploader.spool import files
from uploader.spool.folder import DiskFolder
from uploader.spool.room import SpoolLimits
from uploader.spool.scan import scan_folder

EPISODE = LineFormat.EPISODE
BIG = b"x" * 300_000 + b"\n"


def opened(root: Path, run_id: str = "run") -> DiskFolder:
    return DiskFolder.open(root, run_id, [TRACES, FILES], limits=SpoolLimits(10**12, 0))


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.rglob("*") if file.is_file() and file.name != "lock")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("room", [0, 1, 300_000, 300_001, 300_300])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, number: int) -> None:
    folder = opened(tmp_path)
    kept = folder.add(EPISODE, seal(b"kept\n"))
    used, before = folder.used_bytes, names(folder.path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", FullDisk(room, number).write)
        with pytest.raises(SpoolFullError, match="sending makes room"):
            folder.add(EPISODE, seal(BIG, compress=False))
    assert (folder.used_bytes, names(folder.path), folder.take_problems()) == (used, before, [])
    assert folder.acknowledge(kept, "traces") is False
    spooled = folder.add(EPISODE, seal(BIG, compress=False))
    assert content(folder.load(spooled)) == BIG
    folder.close()


def test_a_full_disk_still_lets_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)
    spooled = folder.add(EPISODE, seal(b"1\n"))
    other = folder.add(EPISODE, seal(b"2\n"))
    folder.acknowledge(spooled, "files")
    monkeypatch.setattr(os, "write", FullDisk(0).write)
    assert folder.acknowledge(spooled, "traces")
    assert folder.take_problems() == []
    # The note for one of two sinks has no room: it holds for this process, and the next one sends once more.
    assert not folder.acknowledge(other, "traces")
    assert [each.waiting_for for each in folder.waiting()] == [(FILES,)]
    (problem,) = folder.take_problems()
    assert "No space" in problem.reason
    assert folder.acknowledge(other, "files")
    assert names(folder.path) == []
    folder.close()


def test_dividing_on_a_full_disk_leaves_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)
    sealed = seal(BIG, BIG, compress=False)
    spooled = folder.add(EPISODE, sealed)
    used, before = folder.used_bytes, names(folder.path)
    for room in (0, 200_000, 300_001, 300_400, 500_000, 600_700):
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", FullDisk(room).write)
            with pytest.raises(SpoolFullError):
                folder.divide(spooled, divide(sealed))
        assert (folder.used_bytes, names(folder.path)) == (used, before)
        assert folder.waiting() == [spooled]
    folder.close()


def test_setting_aside_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)
    spooled = folder.add(EPISODE, seal(b"1\n"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", FullDisk(0).write)
        folder.set_aside(spooled, "bad")
        with pytest.raises(SpoolFullError):
            folder.set_aside_line(EPISODE, iter([b"2"]), "too long")
    assert folder.waiting() == []
    assert len(folder.take_problems()) == 1
    folder.close()
    folder = opened(tmp_path)  # nothing is lost: it waits again
    assert [each.batch for each in folder.waiting()] == [spooled.batch]
    assert folder.take_problems() == []
    folder.close()


@pytest.mark.parametrize("room", [0, 100, 600_000, 600_500])
def test_a_line_that_has_no_room_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    line = os.urandom(600_000)  # gzip makes nothing smaller of it
    folder = opened(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", FullDisk(room).write)
        with pytest.raises(SpoolFullError):
            folder.set_aside_line(EPISODE, iter([line]), "too long")
    assert names(folder.path) == []
    folder.set_aside_line(EPISODE, iter([line]), "too long")
    (data, _) = sorted((folder.path / "rejected").iterdir(), key=lambda path: path.suffix)
    assert gzip.decompress(data.read_bytes()) == line
    folder.close()


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: make_read_only(monkeypatch)


def test_a_read_only_disk(tmp_path: Path, read_only: Callable[[], None]) -> None:
    folder = opened(tmp_path)
    spooled = [folder.add(EPISODE, seal(b"%d\n" % number)) for number in range(3)]
    read_only()
    with pytest.raises(SpoolError, match="Read-only"):
        opened(tmp_path, "another")
    with pytest.raises(SpoolError, match="Read-only") as caught:
        folder.add(EPISODE, seal(b"new\n"))
    assert not isinstance(caught.value, SpoolFullError)
    assert content(folder.load(spooled[0])) == b"0\n"
    assert folder.acknowledge(spooled[0], "traces") is False
    assert folder.acknowledge(spooled[0], "files") is True
    folder.set_aside(spooled[1], "bad")
    with pytest.raises(SpoolError):
        folder.divide(spooled[2], divide(seal(b"1\n", b"2\n")))
    with pytest.raises(SpoolError):
        folder.set_aside_line(EPISODE, iter([b"2"]), "too long")
    assert [each.seq for each in folder.waiting()] == [3]
    assert len(folder.take_problems()) >= 3
    assert scan_folder(folder.path).waiting.batches == 3
    folder.close()


CONTENDER = """
import sys
from pathlib import Path
from tests.uploader.spool.support import FILES, TRACES, content
from uploader.spool.scan import leftovers

sys.stdin.readline()
lines = []
while True:
    found = 0
    for folder in leftovers(Path(sys.argv[1]), TRACES):
        for spooled in folder.waiting():
            lines.append(content(folder.load(spooled)).decode().strip())
            folder.acknowledge(spooled, "files")
            assert folder.acknowledge(spooled, "traces")
            found += 1
        folder.close()
    if not found:
        break
print(" ".join(lines))
"""


def test_processes_that_contend_take_each_batch_once(tmp_path: Path) -> None:
    for run in range(6):
        folder = opened(tmp_path, f"run-{run}")
        for number in range(8):
            folder.add(EPISODE, seal(b"%d\n" % (run * 8 + number)))
        folder.close()
    contenders = [
        subprocess.Popen(
            [sys.executable, "-c", CONTENDER, tmp_path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(3)
    ]
    for contender in contenders:
        assert contender.stdin is not None
        contender.stdin.write("go\n")
        contender.stdin.flush()
    taken = [contender.communicate(timeout=120)[0].split() for contender in contenders]
    assert [contender.returncode for contender in contenders] == [0, 0, 0]
    assert sorted(int(line) for lines in taken for line in lines) == list(range(48))
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_folder_comes_and_goes(tmp_path: Path) -> None:
    """Threads that open, use and remove the same run's folders at the same time."""

    def use(number: int) -> None:
        for _ in range(10):
            folder = opened(tmp_path)
            spooled = folder.add(EPISODE, seal(b"%d\n" % number))
            assert [each.seq for each in folder.waiting()] == [spooled.seq]
            assert content(folder.load(spooled)) == b"%d\n" % number
            folder.acknowledge(spooled, "files")
            assert folder.acknowledge(spooled, "traces")
            folder.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    assert list(tmp_path.iterdir()) == []


def test_threads_share_a_folder(tmp_path: Path) -> None:
    folder = opened(tmp_path)

    def use(number: int) -> None:
        for each in range(10):
            lines = [b"%d-%d-%d\n" % (number, each, line) for line in range(4)]
            spooled = folder.add(EPISODE, seal(*lines))
            first, second = folder.divide(spooled, divide(folder.load(spooled)))
            folder.set_aside(first, "bad")
            assert content(folder.load(second)) == b"".join(lines[2:])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    waiting = folder.waiting()
    assert len({each.seq for each in waiting}) == len(waiting) == 40
    assert folder.used_bytes == sum(each.compressed_size for each in waiting)
    # Two sinks acknowledge the same batches at the same time: of each pair one is the last.
    with ThreadPoolExecutor(2) as pool:
        acks = list(pool.map(lambda sink: [folder.acknowledge(each, sink) for each in waiting], ["traces", "files"]))
    assert [sum(pair) for pair in zip(*acks, strict=True)] == [1] * 40
    assert folder.used_bytes == 0
    folder.close()
    report = scan_folder(folder.path)
    assert (report.rejected.batches, report.rejected.records, report.waiting.batches) == (40, 80, 0)


@pytest.mark.parametrize("held", ["_changes", "nothing"])
def test_a_child_has_nothing_of_its_parents(tmp_path: Path, held: str) -> None:
    folder = opened(tmp_path)
    spooled = folder.add(EPISODE, seal(b"1\n"))

    def child() -> bool:
        folder.abandon_after_fork()
        folder.abandon_after_fork()
        acknowledged = folder.acknowledge(spooled, "traces")  # does not wait for the lock that a thread held
        folder.close()
        own = opened(tmp_path)
        own.add(EPISODE, seal(b"2\n"))
        own.close()
        return not acknowledged and own.path.name == "run~2"

    with folder._changes if held == "_changes" else threading.Lock():
        assert forked(child)
    assert folder.waiting() == [spooled]
    with pytest.raises(SpoolError, match="uses this folder"):
        DiskFolder.open_existing(folder.path)
    folder.close()
    assert names(tmp_path / "run") != []


def test_a_child_that_nobody_told_does_not_use_it_either(tmp_path: Path) -> None:
    folder = opened(tmp_path)

    def child() -> bool:
        with pytest.raises(SpoolError, match="closed"):
            folder.add(EPISODE, seal(b"1\n"))
        folder.close()
        return folder.path.exists()

    assert forked(child)
    folder.add(EPISODE, seal(b"1\n"))
    folder.close()


def test_a_source_that_fails_leaves_no_open_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opens: list[int] = []
    open_ = os.open

    def noted(path: Path, *rest: int) -> int:
        opens.append(open_(path, *rest))
        return opens[-1]

    def pieces() -> Iterator[bytes]:
        yield b"1"
        os.fstat(opens[-1])  # it is open now
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", noted)
    with pytest.raises(KeyboardInterrupt):
        files.write_file(tmp_path / "file", pieces())
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opens[-1])


def test_ctrl_c_while_adding_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("write", "replace", "close"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                folder.add(EPISODE, seal(b"1\n"))
        assert (names(folder.path), folder.used_bytes) == ([], 0)
    folder.close()
