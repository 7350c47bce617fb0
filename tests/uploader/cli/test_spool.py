import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.uploader.cli.conftest import Command
from tests.uploader.spool.support import FILES, TRACES, seal
from uploader.models import LineFormat
from uploader.spool.examine import BatchReport, examine
from uploader.spool.folder import DiskFolder
from uploader.spool.room import SpoolLimits

EPISODE = LineFormat.EPISODE


def opened(root: Path, run_id: str) -> DiskFolder:
    return DiskFolder.open(root, run_id, [TRACES, FILES], limits=SpoolLimits(10**12, 0))


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """Two runs: one with batches that wait and some set aside, one with a batch that is damaged."""
    root = tmp_path / "spool"
    folder = opened(root, "Qwen/1")
    folder.add(EPISODE, seal(b"1\n", b"2\n"))
    folder.acknowledge(folder.add(EPISODE, seal(b"3")), "files")
    folder.set_aside(folder.add(EPISODE, seal(b"4\n", b"5\n")), "duplicate_episode_id: e1")
    folder.close()
    folder = opened(root, "x" * 150)
    folder.add(LineFormat.TRACE, seal(b"6\n"))
    folder.add(LineFormat.TRACE, seal(b"7\n", b"8\n", b"9\n"))
    folder.close()
    sorted(folder.path.glob("*.gz"))[1].write_bytes(b"cut")
    return root


def as_json(command: Command, *arguments: object) -> Any:
    ran = command(*arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def test_list(command: Command, spool: Path) -> None:
    ran = command("spool", "list", "--spool", spool)
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    for text in ("Qwen/1", "duplicate_episode_id: e1", "damaged", "0 s"):
        assert text in ran.out


def test_list_for_scripts(command: Command, spool: Path) -> None:
    first, second = as_json(command, "spool", "list", "--spool", spool)
    assert first["run_id"] == "Qwen/1"
    assert (first["waiting"]["batches"], first["waiting"]["records"], first["in_use"]) == (2, 3, False)
    assert {each["sink"]: each["records"] for each in first["destinations"]} == {"traces": 3, "files": 2}
    assert first["destinations"][0]["team"] == "team"
    assert first["rejected"]["reasons"] == {"duplicate_episode_id: e1": 2}
    assert first["oldest_created_at"] <= first["newest_created_at"]
    assert second["run_id"] == "x" * 150
    assert [(each["records"], each["state"]) for each in second["damaged"]] == [(3, "damaged")]


def test_nothing(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert command("spool", "list").out.startswith("nothing in ")
    assert as_json(command, "spool", "list") == []
    assert not (tmp_path / "state").exists()
    ran = command("spool", "show", "missing", "--spool", tmp_path)
    assert ran.code == 2
    assert "holds nothing of a run missing" in ran.err


def test_show(command: Command, spool: Path) -> None:
    ran = command("spool", "show", "Qwen/1", "--spool", spool)
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "https://traces.example (team team)" in " ".join(ran.out.replace("│", " ").split())
    assert [batch["state"] for batch in as_json(command, "spool", "show", "Qwen/1", "--spool", spool)] == [
        "waiting",
        "waiting",
        "rejected",
    ]
    batches = as_json(command, "spool", "show", "x" * 150, "--spool", spool)
    assert [(batch["seq"], batch["records"], batch["line_format"]) for batch in batches] == [
        (1, 1, "trace"),
        (2, 3, "trace"),
    ]
    (folder, _) = sorted(path.name for path in spool.iterdir())
    assert command("spool", "show", folder, "--spool", spool).code == 0


def test_show_can_read_all_lines(command: Command, spool: Path) -> None:
    (data, *_) = sorted((spool / "%51wen%2f1").glob("*.gz"))
    whole = data.read_bytes()
    data.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    arguments = ("spool", "show", "Qwen/1", "--spool", spool)
    assert command(*arguments).code == 0
    ran = command(*arguments, "--verify")
    assert ran.code == 1
    assert "damaged" in ran.out


def test_a_manifest_that_is_damaged_is_unknown(command: Command, spool: Path) -> None:
    (manifest, *_) = sorted((spool / "%51wen%2f1").glob("*.json"))
    manifest.write_bytes(b"{}")
    assert "unknown" in command("spool", "list", "--spool", spool).out
    first, _ = as_json(command, "spool", "list", "--spool", spool)
    assert [each["records"] for each in first["damaged"]] == [None]


def test_batches_that_were_set_aside_with_nobody_knows_how_many_records(command: Command, tmp_path: Path) -> None:
    folder = opened(tmp_path / "spool", "run")
    for number in range(2):
        folder.add(EPISODE, seal(b"%d" % number))
    folder.close()
    for manifest in folder.path.glob("*.json"):
        manifest.write_bytes(b"{}")
    folder = opened(tmp_path / "spool", "run")
    assert folder.waiting() == []
    folder.close()
    said = command("spool", "list", "--spool", tmp_path / "spool").out.splitlines()
    [row] = [line.replace("│", " ").split() for line in said if "manifest" in line]
    assert row[:2] == ["run", "unknown"]


def test_export(command: Command, spool: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = command("spool", "export", "Qwen/1", "-o", out, "--spool", spool)
    assert (ran.code, out.read_bytes()) == (0, b"1\n2\n3\n")
    assert "2 batches" in ran.err
    ran = command("spool", "export", "Qwen/1", "-o", out, "--spool", spool, "--rejected")
    assert (ran.code, out.read_bytes()) == (0, b"4\n5\n")
    ran = command("spool", "export", "x" * 150, "-o", out, "--spool", spool)
    assert (ran.code, out.read_bytes()) == (1, b"6\n")
    assert "not 5" in ran.err or "bytes" in ran.err
    assert len(as_json(command, "spool", "list", "--spool", spool)) == 2


def test_export_of_both_kinds_asks_which(command: Command, tmp_path: Path) -> None:
    folder = opened(tmp_path / "spool", "both")
    folder.add(EPISODE, seal(b"1\n"))
    folder.add(LineFormat.TRACE, seal(b"2\n", compress=False))
    arguments = ("spool", "export", "both", "--spool", tmp_path / "spool", "-o", tmp_path / "out")
    assert command(*arguments).code == 2
    assert not (tmp_path / "out").exists()
    assert command(*arguments, "--line-format", "trace").code == 0  # also while the run is in use
    assert (tmp_path / "out").read_bytes() == b"2\n"
    folder.close()


def test_export_of_a_line_that_was_set_aside(command: Command, tmp_path: Path) -> None:
    folder = opened(tmp_path / "spool", "run")
    folder.set_aside_line(EPISODE, iter([b"x" * 600_000]), "too long")
    folder.close()
    out = tmp_path / "out"
    arguments = ("spool", "export", "run", "-o", out, "--spool", tmp_path / "spool", "--rejected")
    assert command(*arguments).code == 0
    assert out.read_bytes() == b"x" * 600_000 + b"\n"
    (data,) = (folder.path / "rejected").glob("*.gz")
    for damaged in (gzip.compress(b"x" * 600_000)[:-20], b"no gzip at all"):
        data.write_bytes(damaged)
        ran = command(*arguments)
        assert ran.code == 1
        assert "cannot be unpacked" in ran.err


def test_what_was_sent_meanwhile_is_not_exported(
    command: Command, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def examine_and_send(path: Path, *, verify: bool) -> list[BatchReport]:
        reports = list(examine(path, verify=verify))
        reports[0].data_path.unlink()
        return reports

    monkeypatch.setattr("uploader.cli.spool_export.examine", examine_and_send)
    arguments = ("spool", "export", "Qwen/1", "-o", tmp_path / "out", "--spool", spool)
    assert command(*arguments).code == 0
    assert (tmp_path / "out").read_bytes() == b"3\n"


def test_many_reasons_are_not_all_listed(command: Command, tmp_path: Path) -> None:
    folder = opened(tmp_path / "spool", "run")
    for number in range(13):
        folder.set_aside_line(EPISODE, iter([b"1"]), f"too long: {number}")
    folder.close()
    ran = command("spool", "list", "--spool", tmp_path / "spool")
    assert ran.out.count("too long") == 10
    assert "3 more reasons" in ran.out
    (report,) = as_json(command, "spool", "list", "--spool", tmp_path / "spool")
    assert len(report["rejected"]["reasons"]) == 13


def test_lines_that_are_missing_are_told(command: Command, spool: Path, tmp_path: Path) -> None:
    (data,) = (spool / "%51wen%2f1" / "rejected").glob("*.gz")
    data.unlink()
    ran = command("spool", "export", "Qwen/1", "-o", tmp_path / "out", "--spool", spool, "--rejected")
    assert ran.code == 1
    assert "missing" in ran.err


def answering(answer: bool) -> Callable[..., bool]:
    def confirm(text: str, **_: object) -> bool:
        assert "of 1 folder" in text
        return answer

    return confirm


def test_purge(command: Command, spool: Path) -> None:
    ran = command("spool", "purge", "Qwen/1", "--rejected", "--yes", "--spool", spool)
    assert (ran.code, ran.out.split(" (")[0]) == (0, "2 records")
    ran = command("spool", "purge", "Qwen/1", "-y", "--spool", spool)
    assert (ran.code, ran.out.split(" (")[0]) == (0, "3 records")
    ran = command("spool", "purge", "--all", "--yes", "--spool", spool)
    assert (ran.code, ran.out.split(" (")[0]) == (0, "1 record and 1 damaged batch")
    assert list(spool.iterdir()) == []


def test_purge_asks(command: Command, spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.confirm", answering(True))
    assert command("spool", "purge", "Qwen/1", "--spool", spool).code == 0
    assert len(list(spool.iterdir())) == 1
    monkeypatch.undo()
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert command("spool", "purge", "--all", "--spool", spool).code == 1
    assert len(list(spool.iterdir())) == 1


def test_purge_wants_runs_or_all(command: Command, spool: Path) -> None:
    assert command("spool", "purge", "--spool", spool).code == 2
    assert command("spool", "purge", "Qwen/1", "--all", "--spool", spool).code == 2
    assert command("spool", "purge", "missing", "--yes", "--spool", spool).code == 2


def test_purge_leaves_a_run_in_use(command: Command, spool: Path) -> None:
    folder = opened(spool, "Qwen/1")
    ran = command("spool", "purge", "--all", "--yes", "--spool", spool)
    assert ran.code == 1
    assert "uses this folder" in ran.err
    assert len(folder.waiting()) == 2
    folder.close()


def test_a_spool_that_cannot_be_read(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in (["list"], ["show", "run"], ["export", "run", "-o", "-"], ["purge", "--all"]):
        assert command("spool", *name, "--spool", tmp_path / "file").code == 2


def test_no_home_and_no_spool(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: Path("~/state"))
    ran = command("spool", "list")
    assert ran.code == 2
    assert "--spool" in ran.err


def test_what_cannot_be_listed(command: Command, spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listdir(path) if path == spool else refuse(path))
    ran = command("spool", "list", "--spool", spool)
    assert ran.code == 0
    assert "unreadable" in ran.out
    assert "Permission denied" in ran.out
    monkeypatch.setattr(os, "listdir", refuse)
    ran = command("spool", "list", "--spool", spool)
    assert ran.code == 1
    assert "Permission denied" in ran.err


def test_states(command: Command, spool: Path) -> None:
    folder = opened(spool, "Qwen/1")
    assert "in use" in command("spool", "list", "--spool", spool).out
    folder.close()
    for manifest in folder.path.glob("*.json"):
        manifest.rename(manifest.with_name(f"{manifest.name}.part"))
    assert "unfinished" in command("spool", "list", "--spool", spool).out
    assert "it was being written" in " ".join(
        command("spool", "show", "Qwen/1", "--spool", spool).out.replace("│", " ").split()
    )
