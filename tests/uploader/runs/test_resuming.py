"""The command that a report names sends what the run left, whatever its sinks and its platform are."""

import shlex
from pathlib import Path
from typing import Any

import pytest

import uploader
from encoder import from_messages
from tests.uploader.runs.support import FakeWorker
from tests.uploader.runs.test_start import KEY, TRAINING
from uploader.cli.app import run as run_command
from uploader.config import Config
from uploader.receiver import ReceiverProcess
from uploader.runs.resuming import Address, Addresses, resume_command
from uploader.sinks.traces import TracesSink
from uploader.testing import ScriptedTransport, refusal


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def sink(url: str, team: str = "", name: str = "other") -> TracesSink:
    return TracesSink(Config(KEY, url, team), name=name)


def command_of(worker: FakeWorker, spool: Path, **arguments: Any) -> str:
    """What the report of a run names of which a record waits, without its beginning."""
    run = uploader.init(**{"api_key": KEY, "id": "run", "spool": spool, "lifecycle": "local", **arguments})
    worker.count(submitted=1, spooled=1)
    command = run.finish(timeout=10).resume_command
    assert command is not None
    return command.replace(f"uploader spool resume --spool {spool}", "resume")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ({}, "resume"),
        ({"base_url": "http://h/api/v1", "team_id": "red"}, "resume --url http://h --team-id red"),
        ({"sinks": ["traces"], "base_url": "http://h"}, "resume --url http://h"),
        ({"sinks": ["http://127.0.0.1:9/"]}, "resume --url http://127.0.0.1:9"),
        ({"sinks": ["https://api.primeintellect.ai"]}, "resume --url https://api.primeintellect.ai"),
        ({"sinks": ["http://a"], "base_url": "http://h", "team_id": "red"}, "resume --url http://a --team-id red"),
        ({"sinks": ["/data/out"], "base_url": "http://h"}, "resume"),
        ({"sinks": ["/data/out", "http://a"]}, "resume --url http://a"),
        ({"sinks": [sink("http://a", "red")]}, "resume --url http://a --team-id red"),
        ({"sinks": [sink("http://a")], "team_id": "red"}, "resume --url http://a --team-id ''"),
        ({"sinks": ["traces", sink("http://a")]}, "resume; resume --url http://a"),
        (
            {"sinks": ["http://a", sink("http://b", "red")]},
            "resume --url http://a; resume --url http://b --team-id red",
        ),
        ({"sinks": ["http://a", sink("http://a")]}, "resume --url http://a"),
    ],
)
def test_each_service_is_named_once_unless_the_settings_name_it(
    arguments: dict[str, Any], command: str, worker: FakeWorker, spool: Path
) -> None:
    assert command_of(worker, spool, **arguments) == command


def test_a_sink_s_own_team_beside_a_configured_one(
    worker: FakeWorker, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIME_TEAM_ID", "blue")
    assert command_of(worker, spool, sinks=["http://a"]) == "resume --url http://a"
    assert command_of(worker, spool, sinks=[sink("http://a")]) == "resume --url http://a --team-id ''"
    assert command_of(worker, spool, sinks=[sink("http://a", "blue")]) == "resume --url http://a"


def test_every_sink_gets_what_it_lacks_by_the_command(
    tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with ReceiverProcess(tmp_path / "a", KEY) as first, ReceiverProcess(tmp_path / "b", KEY) as second:
        sinks: list[Any] = [first.url, out, sink(second.url, "red")]
        with uploader.init(kind="eval", id="run", spool=spool, sinks=sinks, mode="offline") as run:
            assert run.log_episodes([from_messages([{"role": "user", "content": "6 * 7?"}]) for _ in range(5)])
        report = run.finish()
        assert report.resume_command is not None
        assert report.resume_command in str(report)
        commands = report.resume_command.split("; ")
        assert len(commands) == 2
        monkeypatch.setenv("PRIME_API_KEY", KEY)
        for command in commands:
            capsys.readouterr()
            assert run_command(shlex.split(command)[1:]) == 0
            assert "nothing to send" not in capsys.readouterr().out
    assert list(out.rglob("*.jsonl.gz"))
    assert not list(spool.rglob("*.jsonl.gz"))


HERE, THERE = Address("http://p", "red", {"--url": "http://p"}), Address("http://a", "red", {"--url": "http://a"})
ANYWHERE = Address("http://p", "red", {}, is_everywhere=True)
ANOTHER_TEAM = Address("http://a", "", {"--url": "http://a", "--team-id": ""})


@pytest.mark.parametrize(
    ("services", "platform", "command"),
    [
        ([HERE], HERE, "resume --url http://p"),
        ([THERE], HERE, "resume --url http://a; resume --url http://p"),
        ([THERE], ANYWHERE, "resume --url http://a"),
        ([ANOTHER_TEAM], ANYWHERE, "resume --url http://a --team-id ''; resume"),
        ([], HERE, "resume --url http://p"),
        ([], ANYWHERE, "resume"),
    ],
)
def test_the_platform_is_told_by_a_command_that_means_it_after_the_records(
    services: list[Address], platform: Address, command: str
) -> None:
    addresses = Addresses(services, platform)
    spool = Path("/spool")
    both = resume_command(spool, addresses, records_wait=True, metrics_wait=True)
    assert both is not None
    assert both.replace("uploader spool resume --spool /spool", "resume") == command
    metrics = resume_command(spool, addresses, records_wait=False, metrics_wait=True)
    assert metrics is not None
    assert metrics.count("uploader") == 1
    assert ("http://p" in metrics) == (platform is HERE)
    assert resume_command(spool, addresses, records_wait=False, metrics_wait=False) is None


@pytest.mark.parametrize(
    ("variables", "arguments", "command"),
    [
        ({}, {"base_url": "http://p"}, "resume --url http://p"),
        ({"PRIME_API_BASE_URL": "http://p"}, {}, "resume"),
        ({}, {"lifecycle": "platform"}, "resume"),
        (
            {"PRIME_TRACES_URL": "http://a"},
            {"lifecycle": "platform"},
            "resume --url https://api.primeintellect.ai",
        ),
    ],
)
def test_a_platform_that_was_not_told_of_a_run_with_a_folder_alone(
    variables: dict[str, str],
    arguments: dict[str, Any],
    command: str,
    worker: FakeWorker,
    spool: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PRIME_TEAM_ID", "red")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    transport = ScriptedTransport([TRAINING, *[refusal(403, "forbidden")] * 9])
    told = {"transport": transport, "sinks": [tmp_path / "out"], "model": "m", **arguments}
    run = uploader.init(api_key=KEY, spool=spool, **told)
    run.log_metrics({"loss": 1})
    assert run.flush(10)
    named = run.finish(timeout=10).resume_command
    assert named is not None
    assert named.replace(f"uploader spool resume --spool {spool}", "resume") == command
