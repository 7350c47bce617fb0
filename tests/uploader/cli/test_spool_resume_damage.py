"""Whatever is wrong with a batch, `uploader spool resume` finds it, sets it aside and says what it cost."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.uploader.cli.conftest import KEY, Command
from tests.uploader.cli.test_spool_resume import destination_of, left_behind, num_stored
from tests.uploader.unlistable import make_unlistable
from uploader.receiver import ReceiverProcess
from uploader.sinks.files import FileSink
from uploader.spool.folder import DiskFolder
from uploader.spool.scan import scan

UNKNOWN = "an unknown number of records"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGE = pytest.mark.parametrize(
    ("harm", "suffix", "held", "set_aside"),
    [
        (cut, "gz", "3 records", "3"),
        (flip, "gz", "3 records", "3"),
        (Path.unlink, "gz", "3 records", "3"),
        (cut, "json", UNKNOWN, "unknown"),
        (flip, "json", UNKNOWN, "unknown"),
        (Path.unlink, "json", UNKNOWN, "unknown"),
    ],
    ids=["cut", "flipped", "no lines", "json cut", "json flipped", "no json"],
)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def first(spool: Path, suffix: str) -> Path:
    return min(spool.glob(f"*/*.{suffix}"))


@DAMAGE
def test_a_batch_with_nothing_else_beside_it(
    harm: Callable[[Path], object],
    suffix: str,
    held: str,
    set_aside: str,
    command: Command,
    receiver: ReceiverProcess,
    spool: Path,
) -> None:
    left_behind(spool, "damaged", destination_of(receiver.url), 1)
    harm(first(spool, suffix))
    arguments = ("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    ran = command(*arguments)
    assert ran.code == 1
    [said] = ran.err.splitlines()
    assert f"rejected{os.sep}" in said
    assert said.endswith(f"; it held {held}")
    assert "nothing to send" not in ran.out
    assert f"│ {set_aside} │" in " ".join(ran.out.split())
    [report] = scan(spool)
    assert (report.damaged, report.rejected.batches) == ([], 1)
    again = command(*arguments)
    assert (again.code, again.out, again.err) == (0, "nothing to send\n", "")


@DAMAGE
def test_one_among_others(
    harm: Callable[[Path], object],
    suffix: str,
    held: str,
    set_aside: str,
    command: Command,
    receiver: ReceiverProcess,
    spool: Path,
) -> None:
    """One result for the folder, whoever found the damage; the rest is sent."""
    run_id = f"among {harm} {suffix}"
    left_behind(spool, run_id, destination_of(receiver.url), 2)
    harm(first(spool, suffix))
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY, "--json")
    assert ran.code == 1
    [result] = json.loads(ran.out)
    number = None if held == UNKNOWN else 3
    assert (result["rejected_records"], result["stored"]["batches"]) == (number or 0, 1)
    [damaged] = result["damaged"]
    assert damaged["records"] == number
    assert Path(damaged["path"]).parent.name == "rejected"
    assert damaged["reason"]
    [said] = ran.err.splitlines()
    assert said.endswith(f"; it held {held}")
    assert num_stored(receiver, run_id) == 3


def test_damage_of_a_folder_s_batch_needs_no_key(command: Command, spool: Path, tmp_path: Path) -> None:
    left_behind(spool, "damaged", FileSink(tmp_path / "out").destination, 1)
    left_behind(spool, "service", destination_of("http://service.test"), 1)
    for path in spool.glob("*/*.gz"):
        cut(path)
    ran = command("spool", "resume", "--spool", spool, "--url", "http://service.test")
    assert ran.code == 1
    assert ran.err.count("; it held 3 records\n") == 2
    assert not (tmp_path / "out").exists()
    assert max(map(len, ran.out.splitlines())) <= 80


def test_what_is_known_to_be_another_s_is_left_to_them_and_named(command: Command, spool: Path) -> None:
    left_behind(spool, "theirs", destination_of("http://other.test"), 1)
    cut(first(spool, "gz"))
    ran = command("spool", "resume", "--spool", spool, "--url", "http://service.test", "--api-key", KEY)
    assert ran.code == 0
    assert "1 batch waits for http://other.test: --url, or --redirect" in ran.err
    [report] = scan(spool)
    assert (len(report.damaged), report.rejected.batches) == (1, 0)
    ran = command("spool", "resume", "--spool", spool, "--url", "http://other.test")
    assert (ran.code, "; it held 3 records\n" in ran.err) == (1, True)


def test_a_damaged_batch_in_use_is_left_alone(command: Command, spool: Path) -> None:
    left_behind(spool, "used", destination_of("http://service.test"), 1)
    user = DiskFolder.open_existing(spool / "used")
    cut(first(spool, "gz"))
    ran = command("spool", "resume", "--spool", spool, "--url", "http://service.test")
    assert (ran.code, ran.out) == (0, "nothing to send\n")
    assert "1 run in use" in ran.err
    user.close()
    assert scan(spool)[0].rejected.batches == 0


def test_a_batch_whose_writing_a_kill_cut_short_is_ended_and_sent(
    command: Command, receiver: ReceiverProcess, spool: Path
) -> None:
    """Its manifest lacks its last rename, so nobody knows for whom it waits until the folder is opened."""
    left_behind(spool, "killed", destination_of(receiver.url), 1)
    manifest = first(spool, "json")
    manifest.rename(manifest.with_name(f"{manifest.name}.part"))
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (ran.code, ran.err) == (0, "")
    assert num_stored(receiver, "killed") == 3
    assert list(spool.iterdir()) == []


def test_a_batch_of_a_later_version_is_named_once_and_stays(
    command: Command, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("uploader.spool.manifest.VERSION", 2)
        left_behind(spool, "later", FileSink(tmp_path / "out").destination, 1)
    left_behind(spool, "sound", FileSink(tmp_path / "out").destination, 1)
    manifest = first(spool, "json")
    ran = command("spool", "resume", "--spool", spool)
    assert ran.code == 1
    [said] = ran.err.splitlines()
    assert said.endswith("use a later version of this package")
    assert manifest.exists()
    assert not (spool / "sound").exists()


def test_a_folder_that_cannot_be_looked_at_is_named(
    command: Command, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind(spool, "bad", FileSink(tmp_path / "out").destination, 1)
    left_behind(spool, "good", FileSink(tmp_path / "out").destination, 1)
    make_unlistable(monkeypatch, "bad")
    ran = command("spool", "resume", "--spool", spool)
    assert (ran.code, ran.err) == (1, f"uploader: {spool / 'bad'}: Permission denied\n")
    assert not (spool / "good").exists()
