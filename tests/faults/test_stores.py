"""A worker with stores against everything that can happen on the way: nothing is lost, nothing is counted twice."""

import gzip
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.proxy import FaultProxy, Pipe, answering, never_answer, pipe
from tests.faults.test_faults import FAULTS
from tests.uploader.delivery.support import FOREVER_S
from tests.uploader.sinks.scripted import scripted_store
from tests.uploader.stores import S3, running_s3, use_credentials
from uploader import FileSink, ObjectStoreSink, UploadWorker
from uploader.cli.app import run as run_command
from uploader.models import LineFormat
from uploader.sinks import store
from uploader.sinks.base import Sink
from uploader.testing import FakeClock

RECORDS = 60


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with running_s3() as server:
        yield server


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    use_credentials(monkeypatch)


def names_in(objects: dict[str, bytes]) -> Counter[str]:
    """How often each record is in a store's batches, every one of which is whole."""
    lines = [line for content in objects.values() for line in gzip.decompress(content).splitlines()]
    return Counter(json.loads(line)["id"] for line in lines)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.jsonl.gz")}


def expected(run_id: str, records: int = RECORDS) -> Counter[str]:
    return Counter(f"{run_id}-{number}" for number in range(records))


def submit(worker: UploadWorker, run_id: str) -> None:
    """So that there are many batches."""
    for number in range(RECORDS):
        assert worker.submit([{"id": f"{run_id}-{number}"}], LineFormat.EPISODE)
        if number % 5 == 0:
            assert worker.flush(60)
        counts = worker.stats.counts
        assert counts.total == counts.submitted


def test_every_record_is_stored_once_through_all_faults(
    s3: S3, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusals, lost answers, wrong ones, and none at all; beside a folder that nothing happens to."""
    monkeypatch.setattr(store, "_PATIENCE_S", 0.5)
    faults = [fault for name, fault in FAULTS.items() if name != "stored-and-cut"]
    slow_down = answering(503, b"<Error><Code>SlowDown</Code><Message>Please reduce your rate</Message></Error>")
    bucket = s3.new_bucket()
    with FaultProxy(s3.url, [*faults, never_answer, *[slow_down] * 5]) as proxy:
        sinks: list[Sink] = [
            ObjectStoreSink(S3(proxy.url).address(bucket, "p"), name="store"),
            FileSink(tmp_path / "out"),
        ]
        worker = UploadWorker(sinks, run_id="faults", spool=tmp_path / "spool")
        submit(worker, "faults")
        report = worker.close(timeout_s=FOREVER_S)
        assert not proxy.faults
    assert report.is_complete
    assert (report.stats.counts.submitted, report.stats.counts.stored, report.spool) == (RECORDS, RECORDS, None)
    by_name = {sink.name: sink for sink in report.stats.sinks}
    assert [sink.stored_records for sink in by_name.values()] == [RECORDS, RECORDS]
    assert by_name["store"].refusals >= 7
    assert by_name["store"].retries >= 5
    objects = s3.objects(bucket)
    assert names_in(objects) == expected("faults")
    assert {path.rpartition("/")[2]: content for path, content in objects.items()} == files_in(tmp_path / "out")


def test_an_outage_of_a_store_is_felt_by_no_other_sink(s3: S3, tmp_path: Path) -> None:
    """All is in the folder while the store is away; when it is back it gets everything, each record once."""
    bucket = s3.new_bucket()
    with FaultProxy(s3.url) as proxy:
        proxy.refuse()
        sinks: list[Sink] = [
            ObjectStoreSink(S3(proxy.url).address(bucket), name="store"),
            FileSink(tmp_path / "out", name="files"),
        ]
        stored = threading.Event()

        def note(event: object) -> None:
            if worker.stats.sinks[1].stored_records == RECORDS:
                stored.set()

        worker = UploadWorker(sinks, run_id="outage", spool=tmp_path / "spool", on_event=note)
        submit(worker, "outage")
        assert stored.wait(60)
        away, files = worker.stats.sinks
        assert (away.stored_records, files.stored_records) == (0, RECORDS)
        assert worker.stats.counts.stored == 0
        assert names_in(files_in(tmp_path / "out")) == expected("outage")
        proxy.accept()
        report = worker.close(timeout_s=120)
    assert report.is_complete
    assert names_in(s3.objects(bucket)) == expected("outage")


def test_refused_credentials_stop_one_sink_loudly(s3: S3, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bucket = s3.new_bucket()
    with scripted_store() as refusing:
        refusing.answers += [(403, "<Error><Code>InvalidAccessKeyId</Code></Error>")] * 100
        sinks: list[Sink] = [
            ObjectStoreSink(refusing.address("s3"), name="refusing"),
            ObjectStoreSink(s3.address(bucket)),
        ]
        worker = UploadWorker(sinks, run_id="refused", spool=tmp_path / "spool")
        submit(worker, "refused")
        report = worker.close(timeout_s=60)
        assert len(refusing.requests) <= 8
    refused, other = report.stats.sinks
    assert "InvalidAccessKeyId" in refused.stopped_reason
    assert (refused.stored_records, other.stored_records) == (0, RECORDS)
    assert (report.stats.counts.spooled, report.stats.counts.stored) == (RECORDS, 0)
    assert names_in(s3.objects(bucket)) == expected("refused")
    assert "The sink refusing is stopped" in caplog.text


_LOGGING = """
import sys
import uploader
address, spool = sys.argv[1:]
run = uploader.init(kind="eval", id="killed", sinks=[address, spool + "-files"], spool=spool)
for number in range(10**6):
    run.log_episodes([{"id": f"killed-{number}"}])
    if number % 5 == 4:
        assert run.flush()
        print(number + 1, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL here")
@pytest.mark.parametrize("batches", [1, 4, 9])
def test_what_was_confirmed_before_a_kill_is_stored_once_by_the_next_process(
    batches: int, s3: S3, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its requests to the store are under way when the process dies; the folder has got some, and may have them all."""
    bucket = s3.new_bucket()
    slow = threading.Event()
    with FaultProxy(s3.url, [lambda each: each.relay((_held(slow), pipe))] * 1000) as proxy:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _LOGGING, S3(proxy.url).address(bucket), str(tmp_path / "spool")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert process.stdout is not None
        confirmed = 0
        for _ in range(batches):
            confirmed = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        slow.set()
        proxy.faults.clear()
        proxy.cut()
        assert run_command(["spool", "resume", "--spool", str(tmp_path / "spool")]) == 0
        assert run_command(["spool", "resume", "--spool", str(tmp_path / "spool")]) == 0
    assert "nothing to send" in capsys.readouterr().out
    for found in (names_in(s3.objects(bucket)), names_in(files_in(tmp_path / "spool-files"))):
        assert set(found.values()) == {1}
        assert expected("killed", confirmed).keys() <= found.keys()


def _held(let_go: threading.Event) -> Pipe:
    """A pipe that keeps what comes until it is let go."""

    def hold(source: socket.socket, target: socket.socket) -> None:
        let_go.wait(60)
        pipe(source, target)

    return hold


_FORKING = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import uploader
address, spool, folder = sys.argv[1:]
run = uploader.init(kind="eval", id="forked", sinks=[address, folder], spool=spool, finish_timeout=20)
run.log_episodes([{"id": "parent-0"}])
while run.stats.sinks[0].stored_records < 1:
    run.flush()
child = os.fork()
run.log_episodes([{"id": "child" if child == 0 else "parent-1"}])
report = run.finish()
if child == 0:
    stored = {name.partition(":")[0]: number for name, number in report.stored_by_sink.items()}
    assert stored == {"s3": 0, "file": 1}, report
    assert "was forked from one" in report.losses, report
    assert report.counts.spooled == 1
else:
    _, status = os.waitpid(child, 0)
    assert report.is_complete, report
    sys.exit(status and 1)
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_keeps_what_it_cannot_send(s3: S3, tmp_path: Path) -> None:
    """The threads of obstore stay in the parent. Files are written by both."""
    bucket = s3.new_bucket()
    arguments = [s3.address(bucket), str(tmp_path / "spool"), str(tmp_path / "out")]
    ran = subprocess.run(
        [sys.executable, "-P", "-c", _FORKING, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert names_in(s3.objects(bucket)) == Counter(["parent-0", "parent-1"])
    assert names_in(files_in(tmp_path / "out")) == Counter(["parent-0", "parent-1", "child"])
    assert run_command(["spool", "resume", "--spool", str(tmp_path / "spool")]) == 0
    assert names_in(s3.objects(bucket)) == Counter(["parent-0", "parent-1", "child"])
