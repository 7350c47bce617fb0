from pathlib import Path

import pytest

from uploader.errors import SpoolFullError
from uploader.spool import files
from uploader.spool.room import Room, SpoolLimits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_its_own_bytes_are_bounded(folder: Path) -> None:
    room = Room(folder, SpoolLimits(100, 0))
    room.check(60, 40)
    with pytest.raises(SpoolFullError, match="60 of 100 bytes wait"):
        room.check(60, 41)


def test_other_runs_count_but_not_what_was_set_aside(folder: Path) -> None:
    other = folder.parent / "other"
    (other / "rejected").mkdir(parents=True)
    name = f"00000001-{'ab' * 32}.trace.jsonl.gz"
    (other / name).write_bytes(b"x" * 30)
    (other / "rejected" / name).write_bytes(b"x" * 1000)
    (other / "else").write_bytes(b"x" * 1000)
    (folder.parent / "file").touch()
    room = Room(folder, SpoolLimits(100, 0))
    room.check(60, 10)
    with pytest.raises(SpoolFullError, match="90 of 100 bytes wait"):
        room.check(60, 11)


def test_others_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("uploader.spool.room.time.monotonic", lambda: now[0])
    other = folder.parent / "other"
    other.mkdir()
    batch = other / f"00000001-{'ab' * 32}.trace.jsonl.gz"
    batch.write_bytes(b"x" * 100)
    room = Room(folder, SpoolLimits(100, 0))
    with pytest.raises(SpoolFullError):
        room.check(0, 1)
    batch.unlink()
    now[0] = 0.5  # not asked again at once
    with pytest.raises(SpoolFullError):
        room.check(0, 1)
    now[0] = 1.5
    room.check(0, 1)


def test_the_disk_keeps_its_floor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "free_bytes", lambda path: 1_000)
    room = Room(folder, SpoolLimits(10**9, 400))
    room.check(0, 600)
    with pytest.raises(SpoolFullError, match="400 are to stay free"):
        room.check(0, 601)


def test_a_real_disk_is_asked(folder: Path) -> None:
    assert files.free_bytes(folder) > 0
