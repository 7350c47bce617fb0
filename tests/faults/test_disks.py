"""Disks that take nothing more, while the way to the service has faults: the worker goes on in memory.

Whatever was taken is stored, or on disk, or counted as dropped and named.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT
from tests.faults.conftest import KEY, stored_names
from tests.faults.proxy import FaultProxy, never_answer, reset_in_body, store_and_cut
from tests.faults.test_faults import FAULTS
from tests.uploader.delivery.support import FOREVER_S
from tests.uploader.receiver.support import dumps, trace
from tests.uploader.spool.disks import FullDisk, make_read_only
from uploader import UploadWorker
from uploader.config import Config
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.sinks.traces import TracesSink
from uploader.spool.room import SpoolLimits
from uploader.testing import FakeClock
from uploader.worker.closing import NO_TIME
from uploader.worker.events import Spooled, SpoolUnavailable
from uploader.worker.intake import TOO_MANY_RECORDS

IN_FLIGHT = 2
TIMEOUT_S = 60


class Logger:
    """A worker with a spool, and what was logged by it.

    Attributes:
        names: of the traces that were taken, in order.
        refused: how many were not.
        events: what the worker told.
    """

    def __init__(self, url: str, run_id: str, spool: Path, **options: Any) -> None:
        self.run_id = run_id
        self.names: list[str] = []
        self.refused = 0
        self.events: list[Any] = []
        sink = TracesSink(Config(KEY, url), timeout=httpx.Timeout(20))
        self.worker = UploadWorker(
            [sink],
            run_id=run_id,
            spool=spool,
            spool_limits=SpoolLimits(10**12, 0),
            max_in_flight=IN_FLIGHT,
            context={"run": run_id},
            on_event=self.events.append,
            **options,
        )

    def log(self, count: int = 1, noise: int = 0) -> bool:
        for _ in range(count):
            name = f"{self.run_id}-{len(self.names) + self.refused:04d}"
            record = dumps(trace(name, info={"noise": os.urandom(noise).hex()}))
            if not self.worker.submit([record], LineFormat.TRACE):
                self.refused += 1
                return False
            self.names.append(name)
        return True

    @property
    def counts(self) -> Any:
        counts = self.worker.stats.counts
        assert counts.total == counts.submitted
        return counts

    def on_disk(self) -> list[bool]:
        """Of each batch, whether it was spooled on disk."""
        return [event.batch.on_disk for event in self.events if isinstance(event, Spooled)]


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    """Undone before the disk is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def fill(patch: pytest.MonkeyPatch) -> None:
    FullDisk.put_in(patch, 100)


DISKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {"full": fill, "read-only": make_read_only}


@pytest.mark.parametrize("disk", DISKS)
def test_what_the_disk_does_not_take_is_sent_from_memory_through_all_faults(
    disk: str, receiver: ReceiverProcess, tmp_path: Path, patch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    with FaultProxy(receiver.url, FAULTS.values()) as proxy:
        logger = Logger(proxy.url, f"memory-{disk}", tmp_path)
        DISKS[disk](patch)
        for _ in range(12):
            assert logger.log(5)
            assert logger.worker.flush(TIMEOUT_S)  # stored, as it is on no disk
            assert logger.counts.stored == len(logger.names)
        report = logger.worker.close(FOREVER_S)
    assert report.is_complete
    assert not any(logger.on_disk())
    assert any(isinstance(event, SpoolUnavailable) for event in logger.events)
    assert stored_names(receiver, logger.run_id) == logger.names


@pytest.mark.parametrize("disk", DISKS)
def test_what_is_on_disk_when_it_takes_nothing_more_is_sent_and_nothing_twice(
    disk: str, receiver: ReceiverProcess, tmp_path: Path, patch: pytest.MonkeyPatch
) -> None:
    with FaultProxy(receiver.url, [never_answer] * 2 * IN_FLIGHT) as proxy:
        logger = Logger(proxy.url, f"before-{disk}", tmp_path)
        for _ in range(4):
            assert logger.log(3)
            assert logger.worker.flush(TIMEOUT_S)
        DISKS[disk](patch)
        assert logger.log(3)
        proxy.faults.clear()
        proxy.cut()
        report = logger.worker.close(TIMEOUT_S)
        assert report.is_complete, report
        patch.undo()
        # Where nothing could be removed, the next worker finds it, and the service has it already.
        again = Logger(proxy.url, f"after-{disk}", tmp_path)
        assert again.log()
        while list(tmp_path.rglob("*.jsonl.gz")):
            assert again.worker.flush(TIMEOUT_S)
        counts = again.worker.close(TIMEOUT_S).stats.counts
        assert (counts.submitted, counts.stored) == (1, 1)
        assert counts.earlier.stored in ({0} if disk == "full" else {12})
    assert stored_names(receiver, logger.run_id) == logger.names


def test_a_disk_that_has_room_again_is_used_again(
    receiver: ReceiverProcess, tmp_path: Path, patch: pytest.MonkeyPatch
) -> None:
    with FaultProxy(receiver.url) as proxy:
        logger = Logger(proxy.url, "again", tmp_path)
        disk = FullDisk.put_in(patch, 10**6)
        for room in (10**6, 0, 10**6):
            disk.room = room
            assert logger.log(2)
            assert logger.worker.flush(TIMEOUT_S)
        assert logger.worker.close(TIMEOUT_S).is_complete
    assert logger.on_disk() == [True, False, True]
    assert stored_names(receiver, "again") == logger.names


@pytest.mark.parametrize("disk", DISKS)
def test_with_no_disk_and_no_service_the_queue_is_the_bound_and_the_pace_is_the_service_s(
    disk: str, receiver: ReceiverProcess, tmp_path: Path, patch: pytest.MonkeyPatch
) -> None:
    with FaultProxy(receiver.url, [never_answer] * IN_FLIGHT) as proxy:
        logger = Logger(proxy.url, f"bound-{disk}", tmp_path, max_queued_records=10)
        DISKS[disk](patch)
        # Two batches in memory, a third one for which the compressor waits, and behind it 256 lines and the queue.
        for _ in range(IN_FLIGHT + 1):
            assert logger.log()
            assert not logger.worker.flush(0.05)  # which ends the batch
        while logger.refused < 3:
            logger.log()
            time.sleep(0.001)
        counts = logger.counts
        assert counts.dropped_reasons == {TOO_MANY_RECORDS: logger.refused}
        assert (counts.stored, counts.rejected, len(logger.on_disk())) == (0, 0, IN_FLIGHT)
        proxy.cut()
        report = logger.worker.close(TIMEOUT_S)
    counts = report.stats.counts
    assert counts.total == counts.submitted == len(logger.names) + logger.refused
    assert (counts.stored, counts.dropped) == (len(logger.names), logger.refused)
    assert stored_names(receiver, logger.run_id) == logger.names


@pytest.mark.parametrize("disk", DISKS)
def test_what_neither_the_disk_nor_the_service_took_is_dropped_and_named_and_the_rest_resumes(
    disk: str, receiver: ReceiverProcess, tmp_path: Path, patch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = f"lost-{disk}"
    with FaultProxy(receiver.url, [never_answer] * 50) as proxy:
        logger = Logger(proxy.url, run_id, tmp_path)
        assert logger.log(7)
        assert logger.worker.flush(TIMEOUT_S)
        DISKS[disk](patch)
        assert logger.log(5)
        while len(logger.on_disk()) < 2:
            assert not logger.worker.flush(0.01)
        report = logger.worker.close(0.5)
        patch.undo()
        counts = report.stats.counts
        assert (counts.submitted, counts.total, counts.stored, counts.spooled) == (12, 12, 0, 7)
        assert counts.dropped_reasons == {NO_TIME: 5}
        assert any(f"5 records dropped: {NO_TIME}" in record.getMessage() for record in caplog.records)
        proxy.faults.clear()
        again = Logger(proxy.url, f"{run_id}-again", tmp_path)
        again.log()
        while again.counts.earlier.stored < 7:
            assert again.worker.flush(TIMEOUT_S)
        again.worker.close(TIMEOUT_S)
    assert stored_names(receiver, run_id) == logger.names[:7]


# Disks that are really so, each in a process of its own.

SMALL_AND_LARGE = """
import json, resource, sys
from pathlib import Path
from tests.faults.test_disks import TIMEOUT_S, Logger

url, run_id, spool, most = sys.argv[1:]
if int(most):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
logger = Logger(url, run_id, Path(spool))
for number in range(8):
    assert logger.log(1, noise=60_000 if number % 2 else 300)
    assert logger.worker.flush(TIMEOUT_S)
counts = logger.worker.close(TIMEOUT_S).stats.counts
print(json.dumps([counts.submitted, counts.stored, logger.on_disk()]))
"""
A_RUN = """
import json, sys
import uploader
from tests.uploader.receiver.support import trace

url, run_id, spool, _ = sys.argv[1:]
run = uploader.init(id=run_id, kind="eval", lifecycle="local", api_key="k", base_url=url, team_id="", spool=spool)
assert run.log_traces([trace(f"{run_id}-{number:04d}") for number in range(8)])
assert run.flush(60)
counts = run.finish(timeout=60).counts
print(json.dumps([counts.submitted, counts.stored, []]))
"""
ON_A_DISK_OF_ITS_OWN = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
MOUNT = 'mount -t tmpfs -o {} tmpfs "$0" && exec "$@"'


def in_child(code: str, *arguments: object, mount: str | None = None, spool: Path) -> Any:
    """What a process prints whose spool is on a disk of its own, if it is to be mounted."""
    spool.mkdir()
    command = [sys.executable, "-c", code, *map(str, arguments)]
    if mount is not None:
        command = [*ON_A_DISK_OF_ITS_OWN, MOUNT.format(mount), str(spool), *command]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def mounts(tmp_path_factory: pytest.TempPathFactory) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no disk of its own can be had here")
    probe = [*ON_A_DISK_OF_ITS_OWN, MOUNT.format("size=4k"), str(tmp_path_factory.mktemp("probe")), "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_a_limit_of_the_size_of_files(receiver: ReceiverProcess, tmp_path: Path) -> None:
    with FaultProxy(receiver.url, [reset_in_body, store_and_cut]) as proxy:
        arguments = (proxy.url, "limited", tmp_path / "spool", 20_000)
        found = in_child(SMALL_AND_LARGE, *arguments, spool=tmp_path / "spool")
    assert found == [8, 8, [True, False] * 4]
    assert len(stored_names(receiver, "limited")) == 8


@pytest.mark.usefixtures("mounts")
def test_a_disk_that_is_really_full(receiver: ReceiverProcess, tmp_path: Path) -> None:
    with FaultProxy(receiver.url, [reset_in_body, store_and_cut]) as proxy:
        arguments = (proxy.url, "really-full", tmp_path / "spool", 0)
        found = in_child(SMALL_AND_LARGE, *arguments, mount="size=48k", spool=tmp_path / "spool")
    assert found == [8, 8, [True, False] * 4]
    assert len(stored_names(receiver, "really-full")) == 8


@pytest.mark.usefixtures("mounts")
def test_a_run_on_a_disk_that_is_really_read_only(receiver: ReceiverProcess, tmp_path: Path) -> None:
    with FaultProxy(receiver.url) as proxy:
        arguments = (proxy.url, "really-read-only", tmp_path / "spool", 0)
        assert in_child(A_RUN, *arguments, mount="ro", spool=tmp_path / "spool") == [8, 8, []]
        listed = httpx.get(f"{receiver.url}/api/v1/traces", params={"limit": 100, "run_id": "really-read-only"}).json()
    assert len(listed["items"]) == 8
