"""SIGKILL between any two system calls: what was confirmed is there exactly once, and nothing is left unexplained."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.uploader.spool.killing import CALLS, Killing, killed_after
from tests.uploader.spool.support import FILES, TRACES, content, seal
from uploader.dividing import divide
from uploader.errors import SpoolError
from uploader.models import LineFormat
from uploader.spool.batches import SpooledBatch
from uploader.spool.folder import DiskFolder
from uploader.spool.names import Role, parse_file
from uploader.spool.room import SpoolLimits

EPISODE = LineFormat.EPISODE
LIMITS = SpoolLimits(10**12, 0)


@dataclass
class Life:
    """What the caller of a folder knows of its lines when it dies.

    Attributes:
        confirmed: those that must be there exactly once.
        in_doubt: those that may be there, once, or not: a call about them did not return.
        gone: those that must not be there.
    """

    confirmed: set[bytes] = field(default_factory=set)
    in_doubt: set[bytes] = field(default_factory=set)
    gone: set[bytes] = field(default_factory=set)

    def start(self, lines: set[bytes]) -> None:
        self.confirmed -= lines
        self.in_doubt |= lines

    def end(self, lines: set[bytes], into: set[bytes]) -> None:
        self.in_doubt -= lines
        into |= lines


def live(root: Path, life: Life) -> None:
    """Everything that a folder can do."""
    folder = DiskFolder.open(root, "run", [TRACES, FILES], limits=LIMITS)

    def add(*lines: bytes) -> SpooledBatch:
        life.start(set(lines))
        spooled = folder.add(EPISODE, seal(*lines))
        life.end(set(lines), life.confirmed)
        return spooled

    first = add(b"sent\n")
    folder.acknowledge(first, "traces")
    life.start({b"sent\n"})
    folder.acknowledge(first, "files")
    life.end({b"sent\n"}, life.gone)
    add(b"kept\n")
    folder.sync()
    lines = [b"1\n", b"2\n", b"3\n", b"4\n"]
    second = add(*lines)
    folder.acknowledge(second, "files")
    parts = folder.divide(second, divide(seal(*lines)))
    folder.set_aside(parts[1], "bad")
    life.start({b"1\n", b"2\n"})
    folder.acknowledge(parts[0], "traces")
    life.end({b"1\n", b"2\n"}, life.gone)
    life.start({b"line\n"})
    folder.set_aside_line(EPISODE, iter([b"li", b"ne\n"]), "too long")
    life.end({b"line\n"}, life.confirmed)
    folder.close()


def found_lines(folder: DiskFolder) -> list[bytes]:
    """The lines of all batches, waiting or rejected."""
    lines = [line for each in folder.waiting() for line in content(folder.load(each)).splitlines(keepends=True)]
    for data in (folder.path / "rejected").glob("*.gz"):
        assert json.loads(data.with_name(data.name.replace(".jsonl.gz", ".json")).read_bytes())["reason"]
        lines += gzip.decompress(data.read_bytes()).splitlines(keepends=True)
    return lines


def check(root: Path, life: Life) -> None:
    folder = DiskFolder.open(root, "run", [TRACES], limits=LIMITS)
    lines = found_lines(folder)
    assert folder.take_problems() == []
    assert len(set(lines)) == len(lines)
    assert life.confirmed <= set(lines) <= life.confirmed | life.in_doubt
    files = [path for path in folder.path.rglob("*") if path.is_file() and path.name != "lock"]
    parsed = [parse_file(path.name) for path in files]
    assert all(each is not None and each[1] in (Role.DATA, Role.MANIFEST) for each in parsed), files
    assert len(files) == 2 * len({each[0].stem for each in parsed if each is not None})
    assert folder.used_bytes == sum(each.compressed_size for each in folder.waiting())
    folder.close()


def count_calls(act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> int:
    with killed_after(10**9, monkeypatch) as killing:
        act()
    return 10**9 - killing._left


@pytest.mark.parametrize("half", [False, True])
def test_killed_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bool) -> None:
    calls = count_calls(lambda: live(tmp_path / "whole", Life()), monkeypatch)
    assert calls > 100
    for number in range(calls + 1):
        root, life = tmp_path / str(number), Life()
        with killed_after(number, monkeypatch, half=half) as killing:
            live(root, life)
        assert killing.is_dead == (number < calls)
        check(root, life)


def test_killed_again_while_putting_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_calls(lambda: live(tmp_path / "whole", Life()), monkeypatch)
    for number in range(0, calls, 3):
        for again in range(0, 60, 2):
            root, life = tmp_path / f"{number}-{again}", Life()
            with killed_after(number, monkeypatch):
                live(root, life)
            if not root.exists():
                break
            with killed_after(again, monkeypatch) as killing:
                DiskFolder.open(root, "run", [TRACES], limits=LIMITS).close()
            check(root, life)
            if not killing.is_dead:
                break


def test_an_error_at_every_call_leaves_a_folder_that_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails from one call on (EIO) and lives again after a restart."""

    class Failing(Killing):
        def __getattr__(self, name: str) -> object:
            call = super().__getattr__(name)
            if name not in CALLS:
                return call
            if name == "close":  # it closes, whatever it says
                return self._close

            def failing(*arguments: object, **options: object) -> object:
                if self._left <= 0:
                    raise OSError(5, "Input/output error")
                return call(*arguments, **options)

            return failing

        def _close(self, descriptor: int) -> None:
            self._open.discard(descriptor)
            os.close(descriptor)

    calls = count_calls(lambda: live(tmp_path / "whole", Life()), monkeypatch)
    for number in range(calls):
        root, life, failing = tmp_path / str(number), Life(), Failing(number)
        with monkeypatch.context() as patch:
            for module in ("files", "locks"):
                patch.setattr(f"uploader.spool.{module}.os", failing)
            with suppress(SpoolError):
                live(root, life)
        failing.bury()
        life.start(set(life.gone))  # what the disk did not take note of is sent once more
        check(root, life)


PROGRAM = """
import sys
from pathlib import Path
from tests.uploader.spool.support import TRACES, seal
from uploader.models import LineFormat
from uploader.spool.folder import DiskFolder
from uploader.spool.room import SpoolLimits

folder = DiskFolder.open(Path(sys.argv[1]), "run", [TRACES], limits=SpoolLimits(10**12, 0))
number = 0
while True:
    spooled = [folder.add(LineFormat.EPISODE, seal(b"%d\\n" % (number + each))) for each in range(3)]
    folder.sync()
    number += 3
    print(number, flush=True)
    if number % 9 == 0:
        print(-spooled[0].seq, int(folder.acknowledge(spooled[0], "traces")), flush=True)
"""


@pytest.mark.parametrize("confirmations", [1, 4, 7, 20])
def test_a_process_that_is_really_killed(tmp_path: Path, confirmations: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, tmp_path], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    with process:
        said = [process.stdout.readline() for _ in range(confirmations)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
    numbers = [int(line.split()[0]) for line in said if line.endswith("\n")]
    confirmed = max(numbers)
    sent = {-number - 1 for number in numbers if number < 0}
    in_doubt = set(range(6, confirmed, 9)) - sent
    folder = DiskFolder.open_existing(tmp_path / "run")
    lines = [int(content(folder.load(each))) for each in folder.waiting()]
    assert len(set(lines)) == len(lines)
    assert set(range(confirmed)) - sent - in_doubt <= set(lines)
    assert not sent & set(lines)
    assert folder.take_problems() == []
    folder.close()
