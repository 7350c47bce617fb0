import gzip
import json
import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.uploader.spool.support import FILES, TRACES, content, seal
from uploader.dividing import divide
from uploader.errors import DamagedBatchError, SpoolError, SpoolFullError, SpoolLockedError
from uploader.models import LineFormat
from uploader.spool import pairs
from uploader.spool.batches import Destination, Folder, SpooledBatch
from uploader.spool.folder import DiskFolder
from uploader.spool.room import SpoolLimits
from uploader.spool.scan import scan

EPISODE = LineFormat.EPISODE
NO_LIMITS = SpoolLimits(10**12, 0)


def opened(root: Path, *destinations: Destination, run_id: str = "run") -> DiskFolder:
    return DiskFolder.open(root, run_id, destinations or (TRACES,), limits=NO_LIMITS, context={"a": "b"})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DiskFolder]:
    folder = opened(tmp_path)
    yield folder
    folder.close()


def names(path: Path) -> list[str]:
    return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file() and file.name != "lock")


def test_it_is_a_folder(folder: DiskFolder) -> None:
    as_folder: Folder = folder
    assert as_folder.run_id == "run"


def test_a_batch_is_two_private_files_that_ordinary_tools_read(folder: DiskFolder) -> None:
    sealed = seal(b'{"a": 1}\n', b'{"b": 2}\n')
    spooled = folder.add(EPISODE, sealed)
    stem = f"00000001-{sealed.batch.digest}.episode"
    assert names(folder.path) == [f"{stem}.json", f"{stem}.jsonl.gz"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.path.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    shown = subprocess.run(["zcat", folder.path / f"{stem}.jsonl.gz"], capture_output=True, check=True)
    assert shown.stdout == b'{"a": 1}\n{"b": 2}\n'
    assert json.loads((folder.path / f"{stem}.json").read_bytes())["num_lines"] == 2
    assert (spooled.run_id, spooled.seq, spooled.batch, spooled.on_disk) == ("run", 1, sealed.batch, True)
    assert spooled.context == {"a": "b"}


@pytest.mark.parametrize("compress", [True, False])
def test_a_batch_is_kept_until_it_is_acknowledged(folder: DiskFolder, compress: bool) -> None:
    sealed = seal(b"1\n", b"2\n", compress=compress)
    spooled = folder.add(EPISODE, sealed)
    assert folder.waiting() == [spooled]
    assert folder.used_bytes == sealed.compressed_size
    loaded = folder.load(spooled)
    assert (loaded.batch, content(loaded), loaded.content_encoding) == (
        sealed.batch,
        b"1\n2\n",
        sealed.content_encoding,
    )
    assert folder.acknowledge(spooled, "traces")
    assert (folder.waiting(), folder.used_bytes, names(folder.path)) == ([], 0, [])
    assert not folder.acknowledge(spooled, "traces")
    with pytest.raises(SpoolError, match="not kept any more"):
        folder.load(spooled)
    assert folder.take_problems() == []


def test_each_sink_acknowledges_and_the_note_outlives_the_process(tmp_path: Path) -> None:
    folder = opened(tmp_path, TRACES, FILES)
    spooled = folder.add(EPISODE, seal(b"1\n"))
    assert not folder.acknowledge(spooled, "traces")
    assert not folder.acknowledge(spooled, "traces")
    folder.close()
    folder = opened(tmp_path, TRACES)
    (again,) = folder.waiting()
    assert again.waiting_for == (FILES,)
    assert (again.batch, again.created_at, again.context) == (spooled.batch, spooled.created_at, {"a": "b"})
    assert folder.acknowledge(again, "files")
    folder.close()
    assert names(tmp_path) == []


def test_acknowledging_one_sink_rewrites_only_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path, TRACES, FILES)
    spooled = folder.add(EPISODE, seal(os.urandom(100_000) + b"\n"))
    sizes: list[int] = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda to, piece: sizes.append(len(piece)) or write(to, piece))  # type: ignore[func-returns-value]
    folder.acknowledge(spooled, "traces")
    assert len(sizes) == 1
    assert sizes[0] < 2_000
    folder.acknowledge(spooled, "files")
    assert len(sizes) == 1
    folder.close()


def test_a_batch_is_written_and_read_in_pieces(folder: DiskFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = seal(os.urandom(3_000_000).replace(b"\n", b"x") + b"\n", compress=False)
    written: list[int] = []
    write, read = os.write, os.read
    monkeypatch.setattr(os, "write", lambda to, piece: written.append(len(piece)) or write(to, piece))  # type: ignore[func-returns-value]
    asked: list[int] = []
    monkeypatch.setattr(os, "read", lambda file, size: asked.append(size) or read(file, size))  # type: ignore[func-returns-value]
    spooled = folder.add(EPISODE, sealed)
    assert written[:-1] == [len(piece) for piece in sealed.pieces]
    assert folder.load(spooled).pieces == sealed.pieces
    assert max(*written, *asked) <= 262_144


def test_an_empty_folder_goes_and_one_with_batches_stays(tmp_path: Path) -> None:
    opened(tmp_path).close()
    assert list(tmp_path.iterdir()) == []
    folder = opened(tmp_path)
    folder.add(EPISODE, seal(b"1\n"))
    folder.close()
    folder.close()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_was_left_is_there_again_in_order(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    spooled = [folder.add(EPISODE, seal(b"%d\n" % number)) for number in range(12)]
    folder.close()
    folder = opened(tmp_path)
    assert folder.waiting() == spooled
    assert folder.used_bytes == sum(each.compressed_size for each in spooled)
    assert folder.add(EPISODE, seal(b"new\n")).seq == 13
    folder.close()


def test_the_same_lines_twice_are_two_batches(folder: DiskFolder) -> None:
    spooled = [folder.add(EPISODE, seal(b"1\n")), folder.add(LineFormat.TRACE, seal(b"1\n"))]
    assert folder.waiting() == spooled
    folder.acknowledge(spooled[0], "traces")
    assert folder.waiting() == spooled[1:]


@pytest.mark.parametrize("run_id", ["", "..", "/", "\0", "x" * 300, "漢字", "\ud800", "A"])
def test_a_run_may_be_called_anything(tmp_path: Path, run_id: str) -> None:
    folder = opened(tmp_path, run_id=run_id)
    spooled = folder.add(EPISODE, seal(b"1\n"))
    folder.close()
    assert folder.path.parent == tmp_path
    assert len(list(tmp_path.iterdir())) == 1
    again = DiskFolder.open_existing(folder.path)
    assert again.run_id == run_id
    assert again.waiting() == [spooled]
    again.close()


def test_one_run_twice_at_a_time_has_two_folders(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    assert (first.path.name, second.path.name) == ("run", "run~2")
    first.add(EPISODE, seal(b"1\n"))
    second.add(EPISODE, seal(b"2\n"))
    with pytest.raises(SpoolLockedError):
        DiskFolder.open_existing(first.path)
    first.close()
    second.close()
    third = opened(tmp_path)
    assert third.path.name == "run"
    third.close()


def test_opening_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpoolError):
        DiskFolder.open_existing(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(SpoolError):
        opened(tmp_path / "file")


def test_parts_take_the_place_of_a_batch(tmp_path: Path) -> None:
    folder = opened(tmp_path, TRACES, FILES)
    sealed = seal(b"1\n", b"2\n", b"3\n")
    spooled = folder.add(EPISODE, sealed)
    folder.acknowledge(spooled, "files")
    halves = divide(sealed)
    parts = folder.divide(spooled, halves)
    assert folder.waiting() == parts
    assert [part.waiting_for for part in parts] == [(TRACES,), (TRACES,)]
    assert [content(folder.load(part)) for part in parts] == [b"1\n", b"2\n3\n"]
    assert folder.used_bytes == sum(half.compressed_size for half in halves)
    assert len(names(folder.path)) == 4
    with pytest.raises(SpoolError, match="not kept any more"):
        folder.divide(spooled, halves)
    folder.close()
    folder = opened(tmp_path)
    assert folder.waiting() == parts
    folder.close()


def test_set_aside(folder: DiskFolder) -> None:
    spooled = folder.add(EPISODE, seal(b"1\n", b"2\n"))
    folder.set_aside(spooled, "duplicate_trace_id: no")
    assert (folder.waiting(), folder.used_bytes) == ([], 0)
    stem = f"rejected/00000001-{spooled.batch.digest}.episode"
    assert names(folder.path) == [f"{stem}.json", f"{stem}.jsonl.gz"]
    manifest = json.loads((folder.path / f"{stem}.json").read_bytes())
    assert (manifest["reason"], manifest["num_lines"]) == ("duplicate_trace_id: no", 2)
    assert gzip.decompress((folder.path / f"{stem}.jsonl.gz").read_bytes()) == b"1\n2\n"
    assert stat.S_IMODE((folder.path / "rejected").stat().st_mode) == 0o700
    folder.set_aside(spooled, "again")
    assert not folder.acknowledge(spooled, "traces")
    assert json.loads((folder.path / f"{stem}.json").read_bytes())["reason"] == "duplicate_trace_id: no"


def failing() -> Iterator[bytes]:
    yield b'{"a": '
    raise ValueError("cannot be written")


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        (iter([b'{"a": ', b"1}\n"]), b'{"a": 1}\n'),
        (failing(), b'{"a": '),
        (iter([]), b""),
        (iter([b"x" * 10**6]), b"x" * 10**6),
    ],
)
def test_a_line_set_aside(tmp_path: Path, pieces: Iterator[bytes], kept: bytes) -> None:
    folder = opened(tmp_path)
    folder.set_aside_line(EPISODE, pieces, "too long")
    data, manifest = sorted((folder.path / "rejected").iterdir(), key=lambda path: path.suffix)
    assert gzip.decompress(data.read_bytes()) == kept
    found = json.loads(manifest.read_bytes())
    assert (found["reason"], found["num_lines"], found["size"]) == ("too long", 1, len(kept))
    assert data.name.startswith(f"00000001-{found['digest']}.episode")
    assert folder.add(EPISODE, seal(b"1\n")).seq == 2
    assert folder.waiting()[0].seq == 2
    folder.close()
    assert (tmp_path / "run" / "rejected").is_dir()


def test_several_lines_set_aside_together(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.set_aside_line(EPISODE, iter([b"1\n2\n"]), "a thread failed", num_lines=2)
    folder.close()
    (report,) = scan(tmp_path)
    assert (report.rejected.batches, report.rejected.records) == (1, 2)


def test_a_rejected_number_is_not_given_again(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.set_aside(folder.add(EPISODE, seal(b"1\n")), "no")
    folder.close()
    folder = opened(tmp_path)
    assert folder.add(EPISODE, seal(b"1\n")).seq == 2
    folder.close()


def test_the_bounds(tmp_path: Path) -> None:
    size = seal(b"1\n").compressed_size
    folder = DiskFolder.open(tmp_path, "run", [TRACES], limits=SpoolLimits(size, 0))
    spooled = folder.add(EPISODE, seal(b"1\n"))
    with pytest.raises(SpoolFullError):
        folder.add(EPISODE, seal(b"2\n"))
    folder.acknowledge(spooled, "traces")
    spooled = folder.add(EPISODE, seal(b"1\n"))
    folder.set_aside(spooled, "no")
    folder.add(EPISODE, seal(b"1\n"))
    folder.close()
    with_floor = DiskFolder.open(tmp_path, "other", [TRACES], limits=SpoolLimits(10**18, 10**18))
    with pytest.raises(SpoolFullError, match="stay free"):
        with_floor.add(EPISODE, seal(b"1\n"))
    with pytest.raises(SpoolFullError):
        with_floor.set_aside_line(EPISODE, iter([b"1"]), "no")
    with_floor.close()


def test_sync_reaches_files_and_folders_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    folder = opened(tmp_path)
    folder.add(EPISODE, seal(b"1\n"))
    gone = folder.add(EPISODE, seal(b"2\n"))
    bad = folder.add(EPISODE, seal(b"3\n"))
    folder.acknowledge(gone, "traces")
    folder.set_aside(bad, "no")
    assert synced == []
    folder.sync()
    every = {path.stat().st_ino for path in tmp_path.rglob("*") if path.name != "lock"}
    assert every <= set(synced)
    assert tmp_path.stat().st_ino in synced
    synced.clear()
    folder.sync()
    assert set(synced) == {path.stat().st_ino for path in (folder.path / "rejected", folder.path, tmp_path)}
    folder.close()


def test_a_sync_that_failed_is_not_forgotten(folder: DiskFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.add(EPISODE, seal(b"1\n"))
    synced: list[int] = []

    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SpoolError, match="Input/output error"):
        folder.sync()
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    folder.sync()
    assert {file.stat().st_ino for file in folder.path.iterdir() if file.name != "lock"} <= set(synced)


def test_nothing_works_after_close(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    spooled = folder.add(EPISODE, seal(b"1\n"))
    folder.close()
    for call in (lambda: folder.add(EPISODE, seal(b"1\n")), lambda: folder.load(spooled), folder.sync, folder.waiting):
        with pytest.raises(SpoolError, match="closed"):
            call()
    with pytest.raises(SpoolError, match="closed"):
        folder.divide(spooled, [])
    assert not folder.acknowledge(spooled, "traces")  # the next opening sends it once more
    folder.set_aside(spooled, "no")
    assert len(names(tmp_path)) == 2


def test_two_loads_of_a_damaged_batch_set_it_aside_once(folder: DiskFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    spooled = folder.add(EPISODE, seal(b"1\n", b"2\n"))
    (data,) = folder.path.glob("*.gz")
    data.write_bytes(b"damaged")
    shelf = folder._shelf
    load = shelf.load

    def load_twice(manifest: object) -> object:
        monkeypatch.setattr(shelf, "load", load)
        with pytest.raises(DamagedBatchError) as caught:
            folder.load(spooled)  # another sink's
        assert caught.value.num_records == 2
        return load(manifest)  # type: ignore[arg-type]

    monkeypatch.setattr(shelf, "load", load_twice)
    with pytest.raises(SpoolError, match="not kept any more"):
        folder.load(spooled)
    assert [type(problem) for problem in folder.take_problems()] == [DamagedBatchError]
    assert folder.take_problems() == []


def test_waiting_is_lazy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path)
    for number in range(5):
        folder.add(EPISODE, seal(b"%d\n" % number))
    folder.close()
    folder = opened(tmp_path)
    opens: list[object] = []
    open_ = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: opens.append(path) or open_(path, *rest))  # type: ignore[func-returns-value]
    waiting: Iterator[SpooledBatch] = folder.iter_waiting()
    assert opens == []
    next(waiting)
    assert len(opens) == 1
    folder.waiting()
    folder.waiting()
    assert len(opens) == 5
    folder.close()


def test_every_folder_of_a_run_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uploader.spool.names.MAX_FOLDERS", 2)
    folders = [opened(tmp_path), opened(tmp_path)]
    with pytest.raises(SpoolLockedError, match="all folders of run 'run' are in use"):
        opened(tmp_path)
    for folder in folders:
        folder.close()


def test_a_batch_that_nobody_waits_for_is_let_go(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.add(EPISODE, seal(b"1\n"))
    (entry,) = folder._shelf.index.entries()
    assert entry.manifest is not None
    pairs.rewrite(folder.path, replace(entry.manifest, waiting_for=(), acknowledged_by=(TRACES,)))
    folder.close()
    folder = opened(tmp_path)
    assert (folder.waiting(), names(folder.path)) == ([], [])
    folder.close()


def test_another_batchs_manifest(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    for line in (b"1\n", b"2\n"):
        folder.add(EPISODE, seal(line))
    folder.close()
    first, second = sorted(folder.path.glob("*.json"))
    second.write_bytes(first.read_bytes())
    folder = opened(tmp_path)
    assert [each.seq for each in folder.waiting()] == [1]
    (problem,) = folder.take_problems()
    assert isinstance(problem, DamagedBatchError)
    assert problem.num_records is None
    folder.close()
