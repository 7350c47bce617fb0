"""The worker with the real spool and the real sender, over a transport that follows a script."""

import gzip
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from encoder.synthetic import synthetic_episode
from tests.uploader.worker.doubles import TIMEOUT_S, until
from tests.uploader.worker.test_forks import in_child
from uploader.config import Config
from uploader.errors import ConfigurationError
from uploader.models import LineFormat
from uploader.sinks.files import FileSink
from uploader.sinks.traces import TracesSink
from uploader.spool.room import SpoolLimits
from uploader.testing import Recorded, ScriptedTransport, refusal
from uploader.worker.counts import Counts, EarlierCounts
from uploader.worker.events import Rejected, SpoolUnavailable
from uploader.worker.worker import UploadWorker

URL = "https://there"


def lines_in(request: Recorded) -> list[bytes]:
    """The lines of an upload, out of its multipart body."""
    start = re.search(rb'name="traces".*?\r\n\r\n', request.body, re.DOTALL)
    assert start is not None
    boundary = request.body[: request.body.index(b"\r\n")]
    body = request.body[start.end() : request.body.rindex(b"\r\n" + boundary)]
    return gzip.decompress(body).splitlines()


class Service:
    """Refuses batches that hold a bad line, and keeps the others' lines."""

    def __init__(self, status: int = 201) -> None:
        self.status = status
        self.lines: list[bytes] = []
        self.transport = ScriptedTransport(self.answer for _ in iter(int, 1))

    def answer(self, request: Recorded) -> Any:
        if self.status != 201:
            return refusal(self.status, "down")
        lines = lines_in(request)
        if any(b"bad" in line for line in lines):
            return refusal(422, "invalid_trace")
        self.lines += lines
        return 201


def new(service: Service, spool: Path | None, **options: Any) -> UploadWorker:
    sink = TracesSink(Config("key", URL), transport=service.transport)
    return UploadWorker([sink], run_id="run", spool=spool, **options)


def numbers(count: int) -> list[bytes]:
    return [b'{"n":%d}' % number for number in range(count)]


@pytest.mark.parametrize("in_memory", [False, True])
def test_everything_is_stored_once_and_nothing_is_left(tmp_path: Path, in_memory: bool) -> None:
    service = Service()
    worker = new(service, None if in_memory else tmp_path)
    episode = synthetic_episode(1, num_nodes=20)
    assert worker.submit([episode])
    assert worker.submit(episode.traces, LineFormat.TRACE)
    assert worker.flush(TIMEOUT_S)
    report = worker.close(TIMEOUT_S)
    assert report.is_complete
    assert report.spool is None
    assert sorted(service.lines) == sorted([episode.to_json(), episode.traces[0].to_json()])
    assert report.stats.counts == Counts(submitted=2, stored=2)
    assert report.stats.sinks[0].stored_records == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("in_memory", [False, True])
def test_one_bad_record_of_five_hundred_costs_itself(tmp_path: Path, in_memory: bool) -> None:
    service = Service()
    events: list[Any] = []
    worker = new(service, None if in_memory else tmp_path, on_event=events.append)
    records = numbers(500)
    records[321] = b'{"bad":1}'
    worker.submit(records)
    counts = worker.close(TIMEOUT_S).stats.counts
    assert counts == Counts(submitted=500, stored=499, rejected=1, rejected_reasons={"invalid_trace": 1})
    assert sorted(service.lines) == sorted(set(records) - {b'{"bad":1}'})
    rejected = [event for event in events if isinstance(event, Rejected)]
    assert [(event.records, event.sink) for event in rejected] == [(1, "traces")]
    if not in_memory:
        assert any(path.is_file() for path in tmp_path.rglob("rejected/*"))


def test_what_a_service_that_is_down_did_not_take_the_next_worker_sends(tmp_path: Path) -> None:
    service = Service(503)
    first = new(service, tmp_path)
    first.submit(numbers(5))
    report = first.close(0.5)
    assert report.stats.counts == Counts(submitted=5, spooled=5)
    assert report.spool is not None
    assert report.spool.is_dir()

    service.status = 201
    second = new(service, tmp_path)
    second.submit([b'{"second":1}'])
    until(lambda: second.stats.counts.earlier.stored == 5)
    counts = second.close(TIMEOUT_S).stats.counts
    assert counts == Counts(submitted=1, stored=1, earlier=EarlierCounts(stored=5))
    assert sorted(service.lines) == sorted([*numbers(5), b'{"second":1}'])
    assert list(tmp_path.iterdir()) == []


def test_offline_everything_is_on_disk_and_nothing_sent(tmp_path: Path) -> None:
    service = Service()
    worker = new(service, tmp_path, offline=True)
    worker.submit(numbers(3))
    assert worker.close(TIMEOUT_S).stats.counts == Counts(submitted=3, spooled=3)
    assert service.transport.requests == []


def test_a_full_spool_makes_the_sender_s_pace_the_bound(tmp_path: Path) -> None:
    service = Service()
    events: list[Any] = []
    limits = SpoolLimits(max_spool_bytes=1, min_free_disk_bytes=0)
    worker = new(service, tmp_path, spool_limits=limits, on_event=events.append)
    for part in range(20):
        worker.submit(numbers(5) if part else numbers(1))
        assert worker.flush(TIMEOUT_S)  # stored, as it is on no disk
    assert worker.close(TIMEOUT_S).is_complete
    assert len(service.lines) == 96
    assert len([event for event in events if isinstance(event, SpoolUnavailable)]) == 20


def test_a_refused_key_keeps_everything_and_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    worker = new(Service(401), tmp_path)
    for _ in range(3):
        worker.submit(numbers(1))
        assert worker.flush(TIMEOUT_S)
    until(lambda: worker.stats.sinks[0].stopped_reason)
    assert worker.close(TIMEOUT_S).stats.counts == Counts(submitted=3, spooled=3)
    assert [record.levelname for record in caplog.records].count("ERROR") == 1


def test_where_nothing_is_said_the_spool_is_in_the_platform_s_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uploader.worker.worker.default_spool", lambda: tmp_path / "there")
    worker = UploadWorker([TracesSink(Config("key", URL), transport=Service(503).transport)], run_id="a/b")
    worker.submit(numbers(1))
    report = worker.close(0.3)
    assert report.spool is not None
    assert report.spool.parent == tmp_path / "there"


def test_a_run_that_nobody_names_has_an_id_of_its_own(tmp_path: Path) -> None:
    first, second = (UploadWorker([FileSink(tmp_path / "out")], spool=tmp_path / "spool") for _ in "ab")
    assert re.fullmatch("local-[0-9a-f]{32}", first.run_id)
    assert first.run_id != second.run_id
    assert new(Service(), None).run_id == "run"
    assert first.submit([b"{}"])
    assert first.close(TIMEOUT_S).is_complete
    assert [path.name for path in (tmp_path / "out").iterdir()] == [first.run_id]
    second.close(TIMEOUT_S)


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="sinks"):
        UploadWorker([], run_id="run", spool=tmp_path)
    with pytest.raises(ConfigurationError, match="spool"):
        new(Service(), None, offline=True)
    twice = [TracesSink(Config("key", URL)), TracesSink(Config("key", "https://elsewhere"))]
    with pytest.raises(ConfigurationError, match="same name"):
        UploadWorker(twice, run_id="run", spool=tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_child_sends_its_own_and_nothing_of_its_parent(tmp_path: Path) -> None:
    service = Service(503)
    worker = new(service, tmp_path)
    worker.submit(numbers(3))
    assert worker.flush(TIMEOUT_S)

    def child() -> None:
        service.status = 201
        assert worker.stats.counts == Counts()
        worker.submit([b'"child"'])
        counts = worker.close(TIMEOUT_S).stats.counts
        assert (counts.submitted, counts.stored, counts.earlier) == (1, 1, EarlierCounts())
        assert service.lines == [b'"child"']

    in_child(child)
    service.status = 201
    assert worker.close(TIMEOUT_S).is_complete
    assert service.lines == numbers(3)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys
from pathlib import Path
from tests.uploader.worker.test_worker import Service, new
worker = new(Service(503), Path(sys.argv[1]))
number = 0
while True:
    worker.submit([b'{"n":%d}' % (number + each) for each in range(7)])
    number += 7
    assert worker.flush(30)
    print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("flushes", [1, 4])
def test_what_a_flush_confirmed_survives_a_kill_and_is_sent_once(tmp_path: Path, flushes: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    confirmed = [int(child.stdout.readline()) for _ in range(flushes)][-1]
    child.kill()
    child.stdout.close()
    child.wait(TIMEOUT_S)
    service = Service()
    worker = new(service, tmp_path)
    worker.submit([b'"more"'])
    until(lambda: worker.stats.counts.earlier.stored >= confirmed)
    assert worker.close(TIMEOUT_S).is_complete
    assert set(numbers(confirmed)) <= set(service.lines)
    assert len(service.lines) == len(set(service.lines))


EXITS = """
import atexit, sys
from pathlib import Path
from tests.uploader.worker.test_worker import Service, new
worker = new(Service(), Path(sys.argv[1]))
atexit.register(lambda: print(worker.close(20).stats.counts.dropped))
worker.submit([b"1", b"2"])
"""


def test_what_was_submitted_just_before_the_exit_is_not_lost(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", EXITS, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (child.stdout.strip(), child.returncode) == ("0", 0)
