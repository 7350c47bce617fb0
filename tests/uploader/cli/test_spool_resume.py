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
from uploader.runs.endings import Ending, Status
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.untold import Note
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
    assert (ran.code, ran.out) == (0, f"nothing to send to {receiver.url}\n")
    assert "2 batches wait for http://other.test: --url, or --redirect" in ran.err
    assert f"2 batches wait for {receiver.url}, team red: --team-id, or --redirect" in ran.err
    blue = command(*arguments, "--team-id", "blue")
    assert blue.out == f"nothing to send to {receiver.url}, team blue\n"
    assert "2 batches wait for http://other.test, no team: --url and --team-id, or --redirect" in blue.err
    assert num_stored(receiver, "elsewhere") == num_stored(receiver, "team") == 0
    ran = command(*arguments, "--redirect")
    assert (ran.code, ran.err) == (0, "")
    assert (num_stored(receiver, "elsewhere"), num_stored(receiver, "team")) == (6, 6)


def test_a_service_s_batches_leave_the_spool_whatever_its_sink_was_called(
    command: Command, receiver: ReceiverProcess, spool: Path
) -> None:
    left_behind(spool, "called", TracesSink(Config(KEY, receiver.url), name="backup").destination)
    arguments = ("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY, "--json")
    ran = command(*arguments)
    [result] = json.loads(ran.out)
    assert (ran.code, result["stored"]["batches"], result["left"]["batches"]) == (0, 2, 0)
    assert num_stored(receiver, "called") == 6
    assert list(spool.iterdir()) == []


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


def untold(root: Path, url: str, run_id: str, team: str = "") -> None:
    row = Note(url, team, "train", run_id, {"loss": 1})
    end = Note(url, team, "train", run_id, ending=Ending(Status.FAILED))
    MetricsLog(root / run_id / "platform.jsonl").append([row.encode(), end.encode()])


def opened(receiver: ReceiverProcess) -> str:
    headers = {"Authorization": f"Bearer {KEY}"}
    body = {"base_model": "m", "max_steps": 0, "environments": [], "team_id": ""}
    answer = httpx.post(f"{receiver.url}/api/v1/rft/external-runs", json=body, headers=headers)
    run_id: str = answer.raise_for_status().json()["run"]["id"]
    return run_id


def test_a_platform_is_told_of_a_run(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    run_id = opened(receiver)
    untold(spool, receiver.url, run_id)
    left_behind(spool, run_id, destination_of(receiver.url), 1)
    listed = command("spool", "list", "--spool", spool, "--json")
    assert [each["platform_untold"] for each in json.loads(listed.out)] == [True]
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY, "--json")
    assert (ran.code, ran.err) == (0, "")
    sent, told = json.loads(ran.out)
    assert sent["stored"]["batches"] == 1
    assert told["told"] == {"metrics": 1, "end": True}
    assert (told["run_id"], told["platform"], told["error"]) == (run_id, receiver.url, None)
    assert (told["refused_metrics"], told["left"]) == (0, {"requests": 0})
    assert list(spool.iterdir()) == []


def test_a_platform_that_knows_no_such_run(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    untold(spool, receiver.url, "unknown")
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert ran.code == 1
    assert "unknown: 1 row of metrics was refused, and kept in metrics.jsonl" in ran.err
    assert "unknown: the platform was not told of all" in ran.err
    assert "end untold" in command("spool", "list", "--spool", spool).out
    assert command("spool", "purge", "unknown", "--spool", spool, "--yes").code == 0
    assert sorted(path.name for path in (spool / "unknown").iterdir()) == ["lock", "metrics.jsonl"]  # the user's


def test_somebody_else_s_platform_is_not_told(command: Command, receiver: ReceiverProcess, spool: Path) -> None:
    untold(spool, "http://127.0.0.1:9", "elsewhere")
    untold(spool, receiver.url, "others", team="others")
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.count("the platform was not told of all") == 2


def test_the_platform_s_address_in_the_environment(
    command: Command, receiver: ReceiverProcess, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untold(spool, receiver.url, opened(receiver))
    monkeypatch.setenv("PRIME_API_BASE_URL", f"{receiver.url}/api/v1/")
    ran = command("spool", "resume", "--spool", spool, "--url", "http://127.0.0.1:9", "--api-key", KEY)
    assert (ran.code, ran.err) == (0, "")
    assert "row of metrics and its end" in " ".join(ran.out.split())
    monkeypatch.setenv("PRIME_API_BASE_URL", "no address")
    ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (ran.code, "PRIME_API_BASE_URL" in ran.err) == (2, True)
