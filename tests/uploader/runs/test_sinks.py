"""A run with sinks of its own: where they come from, and that each has its counts."""

import gzip
import json
import shlex
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import uploader
from tests.uploader.sinks.scripted import scripted_store
from tests.uploader.stores import use_credentials
from uploader.cli.app import run as run_command
from uploader.errors import ConfigurationError, MissingAPIKeyError
from uploader.testing import ScriptedTransport

IDS = [f"e{number}" for number in range(20)]


def init(tmp_path: Path, **arguments: Any) -> uploader.Run:
    return uploader.init(
        **{"kind": "eval", "id": "run", "spool": tmp_path / "spool", "finish_timeout": 20, **arguments}
    )


def ids_in(folder: Path) -> list[str]:
    files = folder.glob("run/episode/*.jsonl.gz")
    return sorted(json.loads(line)["id"] for path in files for line in gzip.decompress(path.read_bytes()).splitlines())


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_credentials(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PRIME_API_KEY", raising=False)


def log_all(run: uploader.Run) -> None:
    for name in IDS:
        assert run.log_episodes([{"id": name}])


def test_a_folder_needs_neither_service_nor_key(tmp_path: Path) -> None:
    with init(tmp_path, sinks=[tmp_path / "out"]) as run:
        log_all(run)
    report = run.finish()
    assert report.is_complete
    assert (report.counts.stored, report.resume_command) == (20, None)
    assert report.stored_by_sink == {(tmp_path / "out").as_uri(): 20}
    assert ids_in(tmp_path / "out") == sorted(IDS)


def test_two_services_are_given_by_their_addresses(tmp_path: Path) -> None:
    transport = ScriptedTransport([201, 201])
    sinks = ["http://one.test", "http://two.test:8083"]
    with init(tmp_path, sinks=sinks, api_key="k", transport=transport) as run:
        run.log_episodes([{"id": "e"}])
    assert run.finish().stored_by_sink == {"traces": 1, "two.test:8083": 1}
    assert sorted(request.url.host for request in transport.requests) == ["one.test", "two.test"]


def test_a_disabled_run_opens_none(tmp_path: Path) -> None:
    with init(tmp_path, sinks=[tmp_path / "out", "s3://bucket?nonsense=1"], mode="disabled") as run:
        log_all(run)
    assert list(tmp_path.iterdir()) == []


def test_an_offline_run_keeps_it_for_all(tmp_path: Path) -> None:
    sinks = [tmp_path / "out", tmp_path / "copy"]
    with init(tmp_path, sinks=sinks, mode="offline") as run:
        log_all(run)
    report = run.finish()
    assert (report.counts.spooled, report.stored_by_sink) == (20, {})
    assert report.resume_command is not None
    assert run_command(shlex.split(report.resume_command)[1:]) == 0
    assert [ids_in(folder) for folder in sinks] == [sorted(IDS)] * 2


def test_the_service_and_the_platform_need_one(tmp_path: Path) -> None:
    for arguments in ({}, {"sinks": ["traces", tmp_path / "out"]}, {"sinks": [tmp_path], "lifecycle": "platform"}):
        with pytest.raises(MissingAPIKeyError):
            init(tmp_path, **arguments)
    with pytest.raises(ConfigurationError, match="must be a list"):
        init(tmp_path, sinks="s3://bucket/a")


def test_a_service_and_a_folder_at_once(tmp_path: Path) -> None:
    transport = ScriptedTransport()
    with init(tmp_path, sinks=["traces", tmp_path / "out"], api_key="key", transport=transport) as run:
        log_all(run)
    report = run.finish()
    assert (report.counts.stored, list(report.stored_by_sink.values())) == (20, [20, 20])
    assert "by all sinks" not in str(report)
    assert ids_in(tmp_path / "out") == sorted(IDS)
    assert transport.requests


def test_a_service_that_is_down_holds_back_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is in the folder while the run lives; what waits for the service is sent by the command it names."""
    run = init(tmp_path, sinks=["traces", tmp_path / "out"], api_key="key", transport=httpx.MockTransport(_down))
    log_all(run)
    assert run.flush()
    report = run.finish(timeout=3)
    assert ids_in(tmp_path / "out") == sorted(IDS)
    assert (report.counts.stored, report.counts.spooled, report.counts.dropped) == (0, 20, 0)
    assert list(report.stored_by_sink.values()) == [0, 20]
    assert "0 of 20 records stored by all sinks (0 by traces, 20 by file:///" in str(report)
    assert report.resume_command is not None


def _down(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


def test_a_store_that_refuses_the_credentials_is_said_and_holds_back_no_other(tmp_path: Path) -> None:
    with scripted_store() as store:
        store.answers += [(403, "<Code>AccessDenied</Code>")] * 50
        run = init(tmp_path, sinks=[store.address("s3"), tmp_path / "out"])
        log_all(run)
        report = run.finish()  # at once: what waits for a stopped sink is waited for no longer
        assert ids_in(tmp_path / "out") == sorted(IDS)
        assert "is stopped: " in report.losses
        assert "HTTP 403 AccessDenied" in report.losses
        assert (report.counts.stored, report.counts.spooled) == (0, 20)
        assert list(report.stored_by_sink.values()) == [0, 20]
        store.answers.clear()
        assert report.resume_command is not None
        assert run_command(shlex.split(report.resume_command)[1:]) == 0
        names = {path.name for path in (tmp_path / "out").rglob("*.jsonl.gz")}
        assert {path.rpartition("/")[2] for method, path in store.requests[-len(names) :]} == names


@pytest.mark.parametrize(("suffix", "held"), [("gz", "20 records"), ("json", "an unknown number of records")])
def test_a_run_says_how_many_records_were_in_a_batch_that_was_damaged_before(
    suffix: str, held: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with init(tmp_path, sinks=[tmp_path / "out"], mode="offline") as run:
        log_all(run)
    [damaged] = (tmp_path / "spool" / "run").glob(f"*.{suffix}")
    damaged.write_bytes(damaged.read_bytes()[:20])
    caplog.clear()
    warnings: list[str] = []
    with init(tmp_path, sinks=[tmp_path / "out"], id="next"):
        deadline_s = time.monotonic() + 30
        while not warnings and time.monotonic() < deadline_s:  # a thread of the run looks through the spool
            time.sleep(0.01)
            warnings = [text for text in caplog.messages if text.startswith("The spool: ")]
    [warning] = warnings
    assert warning.endswith(f"; it held {held}")
    assert "rejected" in warning
