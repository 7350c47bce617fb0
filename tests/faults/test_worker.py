"""The whole worker against everything that can happen on the way: the counts are exact at all times, and add up."""

import threading
from pathlib import Path

import httpx

from tests.faults.conftest import KEY, stored_names
from tests.faults.proxy import FaultProxy, never_answer
from tests.faults.test_faults import FAULTS
from tests.uploader.delivery.support import FOREVER_S
from tests.uploader.receiver.support import dumps, trace
from uploader import UploadWorker
from uploader.config import Config
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.sinks.traces import TracesSink
from uploader.spool.folder import DiskFolder
from uploader.testing import FakeClock

RECORDS, PRODUCERS = 60, 3


def worker_for(url: str, run_id: str, spool: Path) -> UploadWorker:
    sink = TracesSink(Config(KEY, url), timeout=httpx.Timeout(20))
    return UploadWorker([sink], run_id=run_id, spool=spool, context={"run": run_id})


def test_every_record_is_stored_once_or_set_aside_through_all_faults(
    receiver: ReceiverProcess, tmp_path: Path, clock: FakeClock
) -> None:
    with FaultProxy(receiver.url, FAULTS.values()) as proxy:
        worker = worker_for(proxy.url, "worker", tmp_path)

        def produce(producer: int) -> None:
            for number in range(RECORDS):
                bad = number == 30
                record = b'{"id":7}' if bad else dumps(trace(f"worker-{producer}-{number}"))
                assert worker.submit([record], LineFormat.TRACE)
                counts = worker.stats.counts
                assert counts.total == counts.submitted
                if number % 20 == 0:
                    assert worker.flush(60)

        threads = [threading.Thread(target=produce, args=(producer,)) for producer in range(PRODUCERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert worker.submit([object()], LineFormat.TRACE)
        report = worker.close(timeout_s=FOREVER_S)
    counts = report.stats.counts
    assert (counts.submitted, counts.total) == (RECORDS * PRODUCERS + 1, RECORDS * PRODUCERS + 1)
    assert (counts.stored, counts.rejected, counts.dropped) == ((RECORDS - 1) * PRODUCERS, PRODUCERS + 1, 0)
    expected = [f"worker-{producer}-{number}" for producer in range(PRODUCERS) for number in range(RECORDS)]
    assert stored_names(receiver, "worker") == sorted(name for name in expected if not name.endswith("-30"))


def test_what_a_silent_service_took_nothing_of_is_on_disk_and_the_next_worker_sends_it(
    receiver: ReceiverProcess, tmp_path: Path
) -> None:
    with FaultProxy(receiver.url, [never_answer] * 8) as proxy:
        worker = worker_for(proxy.url, "silent", tmp_path)
        assert worker.submit([dumps(trace(f"silent-{number}")) for number in range(10)], LineFormat.TRACE)
        assert worker.flush(60)
        report = worker.close(timeout_s=0.5)
        counts = report.stats.counts
        assert (counts.total, counts.stored, counts.dropped) == (10, 0, 0)
        assert counts.spooled == 10
        assert report.spool is not None
        left = DiskFolder.open_existing(report.spool)
        assert sum(batch.batch.num_lines for batch in left.waiting()) == 10
        left.close()

        proxy.faults.clear()
        again = worker_for(proxy.url, "next", tmp_path)
        assert again.submit([dumps(trace("next-0"))], LineFormat.TRACE)
        while again.stats.counts.earlier.stored < 10:
            assert again.flush(30)
        counts = again.close(timeout_s=30).stats.counts
        assert (counts.submitted, counts.stored) == (1, 1)
    assert len(stored_names(receiver, "silent")) == 10
    assert stored_names(receiver, "next") == ["next-0"]
