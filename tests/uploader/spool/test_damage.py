"""Flip or cut any byte of any file, or remove any file: opening goes on, and the loss is told exactly."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.uploader.spool.support import FILES, TRACES, content, seal
from uploader.errors import DamagedBatchError, SpoolError
from uploader.models import LineFormat
from uploader.spool import files
from uploader.spool.folder import DiskFolder
from uploader.spool.names import LOCK
from uploader.spool.room import SpoolLimits
from uploader.spool.scan import scan, scan_folder

EPISODE = LineFormat.EPISODE
BATCHES = [(b"1\n",), (b"2\n", b"3\n"), (b"4\n", b"5\n", b"6\n")]


def opened(root: Path) -> DiskFolder:
    return DiskFolder.open(root, "run", [TRACES, FILES], limits=SpoolLimits(10**12, 0))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A spool of three batches of 1, 2 and 3 lines."""
    folder = opened(tmp_path / "whole")
    for lines in BATCHES:
        folder.add(EPISODE, seal(*lines))
    folder.close()
    return tmp_path / "whole"


def damaged_spools(whole: Path) -> Iterator[tuple[Path, str]]:
    """The spool with one byte flipped, or the file cut there; each with the file's name.

    It is every byte of the lines, and every fifth of the manifests; `test_manifest` has all of these.
    """
    root = whole.parent / "damaged"
    contents = {file.name: file.read_bytes() for file in sorted((whole / "run").iterdir())}
    for name, data in contents.items():
        for index in range(0, len(data), 5 if name.endswith(".json") else 1):
            flipped = data[:index] + bytes([data[index] ^ (1 << index % 8)]) + data[index + 1 :]
            for damaged in (flipped, data[:index]):
                (root / "run").mkdir(parents=True)
                for other, original in contents.items():
                    (root / "run" / other).write_bytes(damaged if other == name else original)
                yield root, name
                shutil.rmtree(root)


def load_all(folder: DiskFolder) -> list[bytes]:
    """The lines of all batches that can be loaded."""
    lines = []
    for spooled in folder.waiting():
        with suppress(DamagedBatchError):  # it is among the folder's problems, too
            lines += content(folder.load(spooled)).splitlines(keepends=True)
    return lines


def test_any_byte_of_any_file(whole: Path) -> None:
    checked = 0
    for root, name in damaged_spools(whole):
        number = int(name[:8])
        is_manifest = name.endswith(".json")
        before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        report = scan_folder(root / "run", verify=True)
        assert before == {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        assert [damaged.num_records for damaged in report.damaged] == [None if is_manifest else number]
        assert report.waiting.batches == 2
        folder = opened(root)
        lines = load_all(folder)
        problems = folder.take_problems()
        assert lines == [line for each, batch in enumerate(BATCHES, 1) if each != number for line in batch]
        (problem,) = problems
        assert isinstance(problem, DamagedBatchError)
        assert problem.num_records == (None if is_manifest else number)
        assert Path(problem.path).parent == folder.path / "rejected"
        assert Path(problem.path).exists()
        assert (folder.path / "rejected" / name.replace(".jsonl.gz", ".json")).exists()
        folder.close()
        (report,) = scan(root)
        assert (report.rejected.batches, report.rejected.unknown_batches) == (1, int(is_manifest))
        assert report.rejected.records == (0 if is_manifest else number)
        assert (report.damaged, report.unfinished, report.other_files) == ([], [], [])
        again = opened(root)
        assert load_all(again) == lines
        assert again.take_problems() == []
        again.close()
        checked += 1
    assert checked > 500


def test_any_file_removed(whole: Path) -> None:
    for file in sorted((whole / "run").iterdir()):
        root = whole.parent / "copy"
        shutil.copytree(whole, root)
        (root / "run" / file.name).unlink()
        (report,) = scan(root)
        folder = opened(root)
        if file.name == LOCK:
            assert len(load_all(folder)) == 6
        else:
            number = int(file.name[:8])
            expected = None if file.suffix == ".json" else number
            assert [damaged.num_records for damaged in report.damaged] == [expected]
            (problem,) = folder.take_problems()
            assert isinstance(problem, DamagedBatchError)
            assert problem.num_records == expected
            assert "missing" in problem.reason
            assert len(load_all(folder)) == 6 - number
        folder.close()
        shutil.rmtree(root)


def test_damage_among_the_rejected(whole: Path) -> None:
    folder = opened(whole)
    for spooled in folder.waiting():
        folder.set_aside(spooled, "bad")
    folder.close()
    rejected = whole / "run" / "rejected"
    for file in sorted(rejected.iterdir()):
        data = file.read_bytes()
        for index in range(0, len(data), 5):
            file.write_bytes(data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :])
            (report,) = scan(whole)
            known = 6 if file.suffix == ".gz" else 6 - int(file.name[:8])
            assert (report.rejected.batches, report.rejected.records) == (3, known)
            folder = opened(whole)
            assert (folder.waiting(), folder.take_problems()) == ([], [])
            folder.close()
        file.write_bytes(data)


def test_a_damaged_manifest_is_kept_beside_the_new_one(whole: Path) -> None:
    (manifest, *_) = sorted((whole / "run").glob("*.json"))
    manifest.write_bytes(b"damaged")
    folder = opened(whole)
    assert len(folder.waiting()) == 2
    folder.close()
    assert (whole / "run" / "rejected" / f"{manifest.name}.damaged").read_bytes() == b"damaged"


def test_what_is_no_file(whole: Path) -> None:
    (manifest, *_) = sorted((whole / "run").glob("*.json"))
    manifest.unlink()
    manifest.mkdir()
    (report,) = scan(whole)
    assert [damaged.num_records for damaged in report.damaged] == [None]
    folder = opened(whole)
    assert len(folder.waiting()) == 2
    assert [type(problem) for problem in folder.take_problems()] == [SpoolError]
    folder.close()


@pytest.mark.parametrize("ending", [".json.part", ".json.done", ".jsonl.gz.part"])
def test_what_cannot_be_removed_costs_only_its_batch(whole: Path, ending: str) -> None:
    (data, *_) = sorted((whole / "run").glob("*.gz"))
    stem = data.name.removesuffix(".jsonl.gz")
    if ending != ".jsonl.gz.part":
        (whole / "run" / f"{stem}.json").unlink()
    (whole / "run" / f"{stem}{ending}").mkdir()
    for _ in range(2):
        folder = opened(whole)
        assert load_all(folder) == [b"2\n", b"3\n", b"4\n", b"5\n", b"6\n"]
        (problem,) = folder.take_problems()
        assert "left as it is" in problem.reason
        folder.close()
    assert scan(whole)[0].waiting.batches >= 2


def test_damage_that_cannot_be_set_aside_is_left_and_told(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data, *_) = sorted((whole / "run").glob("*.gz"))
    data.write_bytes(b"cut")

    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    folder = opened(whole)
    with monkeypatch.context() as patch:
        patch.setattr(files, "make_folder", read_only)
        assert len(folder.waiting()) == 2
        (problem,) = folder.take_problems()
    assert isinstance(problem, DamagedBatchError)
    assert problem.num_records == 1
    assert "Read-only" in problem.reason
    folder.close()
    assert data.exists()
    again = opened(whole)
    assert len(again.waiting()) == 2
    assert not data.exists()
    again.close()


def test_a_manifest_of_a_later_version_is_left_alone(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("uploader.spool.manifest.VERSION", 2)
        folder = opened(whole)
        folder.add(EPISODE, seal(b"later\n"))
        folder.close()
    (report,) = scan(whole)
    assert ["later version" in damaged.reason for damaged in report.damaged] == [True]
    folder = opened(whole)
    assert len(folder.waiting()) == 3
    (problem,) = folder.take_problems()
    assert "later version" in problem.reason
    folder.close()
    assert len(list((whole / "run").glob("00000004-*"))) == 2
