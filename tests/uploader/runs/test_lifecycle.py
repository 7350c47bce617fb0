"""What becomes of metrics and summaries, wherever a run is known and whatever it has to keep them in."""

from pathlib import Path
from typing import Any

import pytest

import uploader
from tests.uploader.runs.support import FakeWorker, notes_of, rows_of
from tests.uploader.runs.test_run import init, on_platform, requests
from uploader.errors import RunError
from uploader.testing import refusal


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def without_spool(**arguments: Any) -> uploader.Run:
    return init(**{"spool": None, **arguments})


def test_a_local_run_without_a_spool_takes_no_metrics_and_says_so_at_once(
    worker: FakeWorker, caplog: pytest.LogCaptureFixture
) -> None:
    run = without_spool()
    assert [run.log_metrics({"loss": 0.5}, step=step) for step in range(3)] == [False] * 3
    assert caplog.text.count("Rows of metrics are not taken") == 1
    report = run.finish(timeout=10)
    assert (report.lost_metrics, report.metrics_path, report.is_complete) == (3, None, False)
    assert "3 rows of metrics lost" in str(report)


def test_nor_does_it_lose_a_summary_in_silence(worker: FakeWorker) -> None:
    report = without_spool().finish({"best": 0.5}, timeout=10)
    assert "its summary is lost" in str(report.problem)
    assert not report.is_complete
    assert without_spool().finish(timeout=10).is_complete


def test_the_loss_is_raised_where_that_was_asked_for(worker: FakeWorker) -> None:
    run = without_spool(on_error="raise")
    assert not run.log_metrics({"loss": 0.5})
    with pytest.raises(RunError, match="1 rows of metrics lost"):
        run.flush(10)


def test_a_disabled_run_takes_everything(caplog: pytest.LogCaptureFixture) -> None:
    run = without_spool(mode="disabled")
    assert run.log_metrics({"loss": 0.5})
    assert run.finish({"best": 0.5}, timeout=10).is_complete
    assert "metrics" not in caplog.text


def test_the_platform_takes_metrics_without_a_spool(worker: FakeWorker) -> None:
    run, _ = on_platform(None, [200, 200])  # type: ignore[arg-type]
    assert run.log_metrics({"loss": 0.5})
    assert run.finish(timeout=10).is_complete


@pytest.mark.parametrize("how", ["completed", "failed"])
def test_the_summary_of_a_training_run_is_its_last_row_of_metrics(how: str, worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [200, 200, 200])
    run.log_metrics({"loss": 0.5})
    run.update_summary({"best": 0.5, "nested": {"a": 1}})
    assert run.finish(status=how, timeout=10).is_complete
    (_, _, first), (_, path, last), (_, end, _) = requests(transport)
    assert first["metrics"]["loss"] == 0.5
    assert path == "/rft/metrics"
    assert last["metrics"].pop("_timestamp") >= first["metrics"]["_timestamp"]
    assert last == {"run_id": "r1", "metrics": {"summary/best": 0.5, "summary/nested": {"a": 1}}}
    assert end == {"completed": "/rft/finalize", "failed": "/rft/external-runs/r1/status"}[how]


def test_a_summary_that_the_platform_refuses_is_on_disk_and_the_run_is_closed(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [refusal(400, "invalid"), 200])
    report = run.finish({"best": 0.5}, timeout=10)
    (row,) = rows_of(spool, "r1")
    assert row["summary/best"] == 0.5
    assert report.metrics_path == spool / "r1" / "metrics.jsonl"
    assert [path for _, path, _ in requests(transport)] == ["/rft/metrics", "/rft/finalize"]


def test_a_summary_that_could_not_be_told_in_time_waits_before_the_run_s_end(worker: FakeWorker, spool: Path) -> None:
    run, _ = on_platform(spool, [refusal(503, "busy", headers={"Retry-After": "60"})] * 9)
    report = run.finish({"best": 0.5}, timeout=0)
    row, end = notes_of(spool, "r1")
    assert (row.metrics and row.metrics["summary/best"], end.metrics) == (0.5, None)
    assert (report.kept_metrics, report.lost_metrics) == (1, 0)


def test_a_forked_child_leaves_the_summary_to_its_parent(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [])
    run._parts.lifecycle.disown()
    run.finish({"best": 0.5}, timeout=10)
    assert requests(transport) == []
