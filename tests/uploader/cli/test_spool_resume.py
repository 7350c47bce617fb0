import json
from pathlib import Path

import httpx
import pytest

from tests.uploader.cli.conftest import KEY, Command
from tests.uploader.delivery.support import sealed
from tests.uploader.receiver.support import dumps, trace
from uploader.config import Config
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.sinks.traces import TracesSink
from uploader.spool.batches import Destination
from uploader.spool.folder import DiskFolder


def left_behind(root: Path, run_id: str, destination: Destination, batches: int = 2, *bad: bytes) -> None:
    folder = DiskFolder.open(root, run_id, [destination], context={"run": run_id})
    for number in range(batches):
        content = [dumps(trace(f"{run_id}-{number}-{line}")) + b"\n" for line in range(3)]
        folder.add(LineFormat.TRACE, sealed([*content, *bad]))
    folder.close()


def destination_of(url: str, team: str = "") -> Destination:
    return TracesSink(Config(KEY, url, team)).destination


def num_stored(receiver: ReceiverProcess, run_id: str) -> int:
    headers = {"Authorization": f"Bearer {KEY}"}
    answer = httpx.get(f"{receiver.url}/api/v1/traces", params={"context.run": run_id, "limit": 100}, headers=headers)
    return len(answer.json()["items"])


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def test_it_sends_what_is_left_and_says_so(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    left_behind(spool, "first/run", destination_of(receiver.url))
    left_behind(spool, "second", destination_of(receiver.url), 1)
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    for text in ("first/run", "second", "all"):
        assert text in ran.out
    assert (num_stored(receiver, "first/run"), num_stored(receiver, "second")) == (6, 3)
    again = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (again.code, again.out, again.err) == (0, "nothing to send\n", "")


def test_for_scripts(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    left_behind(spool, "scripted", destination_of(receiver.url), 1, b'{"id":7}\n')
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY, "--json")
    [result] = json.loads(ran.out)
    assert (ran.code, result["run_id"], result["rejected_records"]) == (1, "scripted", 1)
    assert result["stored"]["records"] == num_stored(receiver, "scripted") == 3
    assert result["left"] == {"batches": 0, "records": 0}


def test_batches_of_another_address_or_team_go_nowhere_else_unless_asked(
    command: Command, receiver: ReceiverProcess, spool: Path
) -> None:
    left_behind(spool, "elsewhere", destination_of("http://other.test"))
    left_behind(spool, "team", destination_of(receiver.url, "red"))
    arguments = ("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    ran = command(*arguments)
    assert (ran.code, ran.out) == (0, "nothing to send\n")
    assert "2 batches wait for http://other.test: --url, or --redirect" in ran.err
    assert f"2 batches wait for {receiver.url}, team red" in ran.err
    assert num_stored(receiver, "elsewhere") == num_stored(receiver, "team") == 0
    ran = command(*arguments, "--redirect")
    assert (ran.code, ran.err) == (0, "")
    assert (num_stored(receiver, "elsewhere"), num_stored(receiver, "team")) == (6, 6)


def test_a_refused_key_keeps_everything(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    left_behind(spool, "refused", destination_of(receiver.url))
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", "another-key")
    assert ran.code == 1
    assert "2 batches left" in ran.err
    assert "another-key" not in ran.out + ran.err
    folder = DiskFolder.open_existing(next(spool.iterdir()))
    assert len(folder.waiting()) == 2
    folder.close()


def test_a_run_in_use_is_named_and_left_alone(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    left_behind(spool, "used", destination_of(receiver.url))
    folder = DiskFolder.open_existing(next(spool.iterdir()))
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (ran.code, ran.out) == (0, "nothing to send\n")
    assert "1 run in use" in ran.err
    assert len(folder.waiting()) == 2
    folder.close()


def test_a_missing_key_is_an_error_of_usage_where_one_is_needed(command: Command, spool: Path) -> None:
    ran = command("spool", "resume", "--spool", spool, "--url", "http://service.test")
    assert (ran.code, ran.out) == (0, "nothing to send\n")
    left_behind(spool, "keyless", destination_of("http://service.test"))
    ran = command("spool", "resume", "--spool", spool, "--url", "http://service.test")
    assert (ran.code, ran.out) == (2, "")
    assert "no API key" in ran.err
