"""The real worker behind a run: how it is made, and what becomes of a run whose spool cannot be used."""

import threading
from pathlib import Path
from typing import Any

import pytest

import uploader
from uploader.errors import ConfigurationError, SpoolError
from uploader.testing import ScriptedTransport


def init(**arguments: Any) -> uploader.Run:
    return uploader.init(
        **{"kind": "eval", "api_key": "k", "transport": ScriptedTransport(), "finish_timeout": 30, **arguments}
    )


LIMITS = ["max_queued_records", "max_queued_bytes", "max_in_flight", "max_spool_bytes", "min_free_disk_bytes"]


@pytest.mark.parametrize("option", LIMITS)
@pytest.mark.parametrize("value", [0, -1, True, "8", 1.5])
def test_limits_that_cannot_be_used(option: str, value: Any, tmp_path: Path) -> None:
    if (option, value) == ("min_free_disk_bytes", 0):
        value = -2
    with pytest.raises(ConfigurationError) as caught:
        init(spool=tmp_path, **{option: value})
    assert caught.value.option == option


def test_limits_are_the_worker_s(tmp_path: Path) -> None:
    """What does not fit beside what is queued is dropped; the first always fits."""
    reached, gate = threading.Event(), threading.Event()

    class Slow:
        def iter_json(self) -> Any:
            reached.set()
            gate.wait(30)
            yield b"{}"

    run = init(spool=tmp_path, max_queued_records=2)
    assert run.log_episodes([Slow()])
    assert reached.wait(30)
    assert [run.log_episodes([{"id": name}]) for name in "abc"] == [True, True, False]
    gate.set()
    report = run.finish()
    assert (report.counts.stored, report.counts.dropped) == (3, 1)


@pytest.mark.parametrize("limits", [{"max_spool_bytes": 1}, {"min_free_disk_bytes": 10**18}])
def test_a_spool_takes_no_more_than_was_said(limits: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = init(spool=tmp_path, **limits)
    run.log_episodes([{"id": "a"}])
    assert run.finish().is_complete
    assert "1 batch kept in memory" in caplog.text


def test_a_disk_may_be_filled(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = init(spool=tmp_path, min_free_disk_bytes=0)
    run.log_episodes([{"id": "a"}])
    assert run.finish().is_complete
    assert "kept in memory" not in caplog.text


def test_a_spool_that_cannot_be_used_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    run = init(spool=blocked / "spool")
    assert "keeps what is not sent in memory alone" in caplog.text
    assert run.log_episodes([{"id": "a"}])
    report = run.finish()
    assert (report.counts.stored, report.spool) == (1, None)
    for must in ({"on_error": "raise"}, {"mode": "offline"}):
        with pytest.raises(SpoolError):
            init(spool=blocked / "spool", **must)


def test_events_are_told(tmp_path: Path) -> None:
    events: list[Any] = []
    run = init(spool=tmp_path, on_event=events.append)
    run.log_episodes([{"id": "a"}])
    run.finish()
    assert [type(event).__name__ for event in events] == ["Spooled", "Stored"]


def test_a_record_that_cannot_be_written_is_set_aside(tmp_path: Path) -> None:
    run = init(spool=tmp_path)
    run.log_episodes([{"id": "a"}, {"id": "\ud800"}, 5, {"id": "b"}])
    report = run.finish()
    assert (report.counts.stored, report.counts.rejected) == (2, 2)
    assert "2 set aside" in str(report)
    assert report.resume_command is None
