"""What is on no disk when a worker ends is dropped, and the reason is the true one."""

from pathlib import Path

import pytest

import uploader
from tests.uploader.worker.doubles import TIMEOUT_S, until
from tests.uploader.worker.test_worker import URL, Service, new, numbers
from uploader.config import Config
from uploader.sinks.files import FileSink
from uploader.sinks.traces import TracesSink
from uploader.worker.closing import NO_TIME
from uploader.worker.worker import UploadWorker

REFUSED = "the sink traces is stopped: down (HTTP 401, down): check the API key (PRIME_API_KEY)"


def test_a_refused_key_is_the_reason_for_what_no_disk_keeps(caplog: pytest.LogCaptureFixture) -> None:
    worker = new(Service(401), None)
    worker.submit(numbers(3))
    until(lambda: worker.stats.sinks[0].stopped_reason)
    counts = worker.close(TIMEOUT_S).stats.counts
    assert counts.dropped == counts.submitted == 3
    assert list(counts.dropped_reasons) == [REFUSED]
    assert f"3 records dropped: {REFUSED}" in caplog.text


def test_and_for_what_found_no_room_beside_it() -> None:
    worker = new(Service(401), None, max_in_flight=1)
    worker.submit(numbers(1))
    until(lambda: worker.stats.sinks[0].stopped_reason)
    worker.submit(numbers(2))
    until(lambda: worker.stats.counts.encoding == 2)
    counts = worker.close(0.5).stats.counts
    assert counts.dropped_reasons == {REFUSED: 3}


def test_one_of_two_sinks_is_the_reason(tmp_path: Path) -> None:
    refused = TracesSink(Config("key", URL), transport=Service(401).transport)
    worker = UploadWorker([refused, FileSink(tmp_path, name="folder")], run_id="run", spool=None)
    worker.submit(numbers(2))
    until(lambda: worker.stats.sinks[0].stopped_reason and worker.stats.sinks[1].stored_records)
    counts = worker.close(TIMEOUT_S).stats.counts
    assert counts.dropped_reasons == {REFUSED: 2}


def test_what_only_a_service_that_is_down_lacks_had_no_time() -> None:
    worker = new(Service(503), None)
    worker.submit(numbers(1))
    assert worker.close(0.2).stats.counts.dropped_reasons == {NO_TIME: 1}


def test_a_report_names_the_reason_once() -> None:
    run = uploader.init(
        kind="eval", api_key="k", lifecycle="local", spool=None, transport=Service(401).transport, finish_timeout=10
    )
    run.log_episodes([{"id": "a"}])
    until(lambda: run.stats.sinks[0].stopped_reason)
    report = run.finish()
    assert report.losses == f"1 dropped ({REFUSED})"
