import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.uploader.spool.killing import killed_after
from tests.uploader.spool.support import FILES, TRACES, seal
from tests.uploader.unlistable import make_unlistable
from uploader.errors import DamagedBatchError, SpoolError, SpoolLockedError
from uploader.models import LineFormat
from uploader.spool import pairs
from uploader.spool.batches import Destination
from uploader.spool.examine import State, examine
from uploader.spool.folder import DiskFolder
from uploader.spool.manifest import Manifest
from uploader.spool.purging import purge
from uploader.spool.room import SpoolLimits
from uploader.spool.scan import leftovers, scan, scan_folder
from uploader.testing import FakeClock, fake_time

EPISODE = LineFormat.EPISODE
OTHER_TEAM = Destination(TRACES.sink, TRACES.place, "other")


def opened(root: Path, run_id: str = "run", destinations: Sequence[Destination] = (TRACES,)) -> DiskFolder:
    return DiskFolder.open(root, run_id, destinations, limits=SpoolLimits(10**12, 0))


def left(root: Path, run_id: str, *destinations: Destination, batches: int = 1) -> None:
    folder = opened(root, run_id, destinations)
    for number in range(batches):
        folder.add(EPISODE, seal(b"%d\n" % number))
    folder.close()


def test_no_spool_holds_nothing(tmp_path: Path) -> None:
    assert scan(tmp_path / "missing") == []
    assert scan(tmp_path) == []
    assert list(leftovers(tmp_path / "missing", TRACES)) == []


def test_what_a_run_holds(tmp_path: Path) -> None:
    clock = FakeClock()
    with fake_time(clock):
        folder = opened(tmp_path, "Run/1", [TRACES, FILES])
        first = folder.add(EPISODE, seal(b"1\n", b"2\n"))
        clock.sleep(60, threading.Event())
        second = folder.add(EPISODE, seal(b"3\n"))
        folder.acknowledge(second, "files")
        folder.set_aside(folder.add(EPISODE, seal(b"4\n", b"5\n")), "duplicate")
        folder.set_aside_line(EPISODE, iter([b"6"]), "too long")
    (report,) = scan(tmp_path)
    assert (report.run_id, report.locked, report.path) == ("Run/1", True, folder.path)
    assert (report.waiting.batches, report.waiting.records, report.waiting.size) == (2, 3, 6)
    assert report.waiting.compressed_size == folder.used_bytes
    assert {where: total.records for where, total in report.waiting_for.items()} == {TRACES: 3, FILES: 2}
    assert (report.oldest_created_at, report.newest_created_at) == (first.created_at, first.created_at + 60)
    assert (report.rejected.batches, report.rejected.records) == (2, 3)
    assert report.reasons == {"duplicate": 2, "too long": 1}
    assert (report.damaged, report.unfinished, report.other_files, report.problem) == ([], [], [], "")
    folder.close()
    assert not scan_folder(folder.path).locked


def test_what_is_none_of_the_spools(tmp_path: Path) -> None:
    left(tmp_path, "run", TRACES)
    (tmp_path / "run" / "notes.txt").touch()
    (tmp_path / "file").touch()
    (tmp_path / "Not a run").mkdir()
    (report,) = scan(tmp_path)
    assert report.other_files == [tmp_path / "run" / "notes.txt"]
    (folder,) = leftovers(tmp_path, TRACES)
    folder.acknowledge(folder.waiting()[0], "traces")
    folder.close()
    assert (tmp_path / "run" / "notes.txt").exists()


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left(tmp_path, "bad", TRACES)
    left(tmp_path, "good", TRACES)
    make_unlistable(monkeypatch, "bad")
    bad, good = scan(tmp_path)
    assert (bad.problem, bad.waiting.batches) == ("Permission denied", 0)
    assert good.waiting.batches == 1
    assert [folder.path.name for folder in closing(leftovers(tmp_path, TRACES))] == ["good"]


def closing(folders: object) -> list[DiskFolder]:
    found = []
    for folder in folders:  # type: ignore[attr-defined]
        found.append(folder)
        folder.close()
    return found


def test_leftovers_are_those_of_the_very_destination(tmp_path: Path) -> None:
    left(tmp_path, "mine", TRACES)
    left(tmp_path, "files", FILES)
    left(tmp_path, "both", TRACES, FILES)
    left(tmp_path, "theirs", OTHER_TEAM)
    assert [folder.run_id for folder in closing(leftovers(tmp_path, TRACES))] == ["both", "mine"]
    assert [folder.run_id for folder in closing(leftovers(tmp_path, OTHER_TEAM))] == ["theirs"]
    assert closing(leftovers(tmp_path, Destination("traces", "https://else.example"))) == []


def test_leftovers_are_locked_one_at_a_time_and_none_is_in_use(tmp_path: Path) -> None:
    for run_id in ("a", "b", "c"):
        left(tmp_path, run_id, TRACES)
    user = DiskFolder.open_existing(tmp_path / "b")
    found = leftovers(tmp_path, TRACES)
    first = next(found)
    assert first.run_id == "a"
    assert [report.locked for report in scan(tmp_path)] == [True, True, False]
    second = next(found)
    assert second.run_id == "c"
    for folder in (first, second, user):
        folder.close()
    assert closing(found) == []


def test_a_batch_that_only_lacks_its_rename_is_a_leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for calls in range(100):
        root = tmp_path / str(calls)
        opened(root).close()
        folder = opened(root)
        with killed_after(calls, monkeypatch):
            folder.add(EPISODE, seal(b"1\n"))
        folder._lock.release()
        reports = list(examine(folder.path))
        if [report.reason for report in reports] == ["it was being written"] and reports[0].data_path.exists():
            break
    assert [report.state for report in reports] == [State.UNFINISHED]
    (found,) = leftovers(root, TRACES)
    assert len(found.waiting()) == 1
    found.close()


def test_damage_is_a_leftover_once(tmp_path: Path) -> None:
    left(tmp_path, "run", TRACES)
    left(tmp_path, "theirs", OTHER_TEAM)
    for data in tmp_path.rglob("*.gz"):
        data.write_bytes(b"cut")
    (folder,) = leftovers(tmp_path, TRACES)
    assert (folder.run_id, folder.waiting(), folder.has_problems) == ("run", [], True)
    (problem,) = folder.take_problems()
    assert isinstance(problem, DamagedBatchError)
    assert (problem.num_records, folder.has_problems) == (1, False)
    folder.close()
    assert closing(leftovers(tmp_path, TRACES)) == []


def test_scanning_opens_each_manifest_once_and_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left(tmp_path, "run", TRACES, batches=20)
    opens: list[str] = []
    open_ = os.open

    def counted(path: Path, *rest: int) -> int:
        opens.append(path.suffix)
        return open_(path, *rest)

    monkeypatch.setattr(os, "open", counted)
    assert scan_folder(tmp_path / "run").waiting.batches == 20
    assert opens.count(".json") == 20
    assert ".gz" not in opens
    opens.clear()
    found = leftovers(tmp_path, TRACES)
    folder = next(found)
    assert opens.count(".json") <= 3  # one batch that waits is enough to know
    folder.close()


def test_purging(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.add(EPISODE, seal(b"1\n"))
    folder.set_aside(folder.add(EPISODE, seal(b"2\n")), "bad")
    with pytest.raises(SpoolLockedError):
        purge(folder.path)
    folder.close()
    report = purge(folder.path, only_rejected=True)
    assert (report.rejected.records, report.waiting.records) == (1, 1)
    (report,) = scan(tmp_path)
    assert (report.rejected.records, report.waiting.records) == (0, 1)
    purge(folder.path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SpoolError):
        purge(folder.path)


def test_purging_leaves_what_is_not_the_spools(tmp_path: Path) -> None:
    left(tmp_path, "run", TRACES)
    (tmp_path / "run" / "notes.txt").touch()
    purge(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["lock", "notes.txt"]


def test_purging_killed_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for calls in range(200):
        root = tmp_path / str(calls)
        folder = opened(root)
        folder.add(EPISODE, seal(b"1\n"))
        folder.set_aside(folder.add(EPISODE, seal(b"2\n")), "bad")
        folder.close()
        with killed_after(calls, monkeypatch) as killing:
            purge(folder.path)
        if not killing.is_dead:
            assert not folder.path.exists()
            return
        again = opened(root)
        assert again.take_problems() == []
        again.close()
        assert all(report.damaged == [] for report in scan(root))
    raise AssertionError("it never ends")


def test_a_batch_that_is_being_set_aside_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for calls in range(100):
        folder = opened(tmp_path / str(calls))
        spooled = folder.add(EPISODE, seal(b"1\n", b"2\n"))
        with killed_after(calls, monkeypatch) as killing:
            folder.set_aside(spooled, "bad")
        report = scan_folder(folder.path)
        assert report.waiting.records + report.rejected.records == 2
        assert report.damaged == []
        folder.close()
        if not killing.is_dead:
            return
    raise AssertionError("it never ends")


def test_what_turns_out_to_be_for_another_is_let_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left(tmp_path, "run", OTHER_TEAM)
    (manifest,) = (tmp_path / "run").glob("*.json")
    manifest.rename(manifest.with_name(f"{manifest.name}.part"))  # as if killed before the last rename
    assert closing(leftovers(tmp_path, TRACES)) == []
    (report,) = scan(tmp_path)
    assert (report.locked, report.unfinished, list(report.waiting_for)) == (False, [], [OTHER_TEAM])


def test_a_folder_in_use_that_changes_while_it_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)
    spooled = [folder.add(EPISODE, seal(b"%d\n" % number)) for number in range(3)]
    reports = examine(folder.path)
    assert next(reports).name.seq == 1
    for each in spooled[1:]:
        folder.acknowledge(each, "traces")  # it was listed, and is gone now
    assert list(reports) == []
    read_manifest = pairs.read_manifest

    def read_and_let_go(*arguments: Any) -> Manifest:
        manifest = read_manifest(*arguments)
        folder.acknowledge(spooled[0], "traces")
        return manifest

    monkeypatch.setattr(pairs, "read_manifest", read_and_let_go)
    assert list(examine(folder.path)) == []
    folder.close()


def test_a_manifest_that_the_listing_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)
    folder.add(EPISODE, seal(b"1\n"))
    listdir = os.listdir
    # A listing is no snapshot: it may hold neither the old name nor the new one of a file that is just renamed.
    monkeypatch.setattr(os, "listdir", lambda path: [name for name in listdir(path) if not name.endswith(".json")])
    assert [report.state for report in examine(folder.path)] == [State.WAITING]
    folder.close()
