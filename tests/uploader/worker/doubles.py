"""A spool in memory that says it is on disk, and a sender that does what the test says, at once."""

import gzip
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.uploader.worker.handles import HOME, SINK
from uploader.delivery.stats import SinkStats
from uploader.errors import SpoolError, SpoolFullError
from uploader.models import LineFormat, UploadReceipt
from uploader.sealing import SealedBatch
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker.core import Worker
from uploader.worker.listening import Listener
from uploader.worker.settings import WorkerSettings

TIMEOUT_S = 30.0


class FakeFolder:
    """Keeps batches; `trouble` is raised by the next adds, one each."""

    def __init__(self, *, on_disk: bool = True, max_batches: int = 1000) -> None:
        self.run_id = "run"
        self.on_disk = on_disk
        self.max_batches = max_batches
        self.kept: dict[int, tuple[SpooledBatch, SealedBatch]] = {}
        self.all: list[SpooledBatch] = []
        self.lines: list[tuple[LineFormat, bytes, str]] = []
        self.num_lines = 0
        self.trouble: list[Exception] = []
        self.syncs = 0
        self.synced = 0
        self.sync_error: SpoolError | None = None
        self.closed = threading.Event()
        self.abandoned = False
        self.problems: list[SpoolError] = []
        self.on_add: Callable[[], object] = lambda: None

    @property
    def used_bytes(self) -> int:
        return sum(spooled.compressed_size for spooled, _ in self.kept.values())

    def add(self, line_format: LineFormat, sealed: SealedBatch) -> SpooledBatch:
        self.on_add()
        if self.trouble:
            raise self.trouble.pop(0)
        if len(self.kept) >= self.max_batches:
            raise SpoolFullError("here", "full")
        seq = len(self.all) + 1
        size = sealed.compressed_size
        spooled = SpooledBatch(
            "run", seq, line_format, sealed.batch, size, time.time(), waiting_for=(HOME,), on_disk=self.on_disk
        )
        self.kept[seq] = (spooled, sealed)
        self.all.append(spooled)
        return spooled

    def text(self, spooled: SpooledBatch) -> bytes:
        return gzip.decompress(b"".join(self.kept[spooled.seq][1].pieces))

    def acknowledge(self, spooled: SpooledBatch, sink: str) -> bool:
        return self.kept.pop(spooled.seq, None) is not None

    def load(self, spooled: SpooledBatch) -> SealedBatch:
        return self.kept[spooled.seq][1]

    def divide(self, spooled: SpooledBatch, parts: Sequence[SealedBatch]) -> list[SpooledBatch]:
        raise NotImplementedError

    def set_aside(self, spooled: SpooledBatch, reason: str) -> None:
        self.kept.pop(spooled.seq, None)

    def set_aside_line(
        self, line_format: LineFormat, pieces: Iterator[bytes], reason: str, *, num_lines: int = 1
    ) -> None:
        self.lines.append((line_format, b"".join(pieces), reason))
        self.num_lines += num_lines

    def waiting(self) -> list[SpooledBatch]:
        return [spooled for spooled, _ in self.kept.values()]

    def take_problems(self) -> list[SpoolError]:
        taken, self.problems = self.problems, []
        return taken

    def sync(self) -> None:
        self.syncs += 1
        self.synced = len(self.all)
        if self.sync_error is not None:
            raise self.sync_error

    def close(self) -> None:
        self.closed.set()

    def abandon_after_fork(self) -> None:
        self.abandoned = True


FIGURES = SinkStats(
    name=SINK,
    waiting_batches=0,
    in_flight_batches=0,
    stored_batches=0,
    stored_records=0,
    rejected_records=0,
    resumed_batches=0,
    resumed_records=0,
    sent_bytes=0,
    retries=0,
    refusals=0,
    concurrency=8,
    paused_until=None,
    paused_reason="",
    stopped_reason="",
)


@dataclass
class FakeDelivery:
    """Gives every batch to `deal` on the thread that offers it; by default it is stored at once."""

    listener: Listener
    deal: Callable[["FakeDelivery", Folder, SpooledBatch], object]
    offered: list[tuple[Folder, SpooledBatch]] = field(default_factory=list)
    resumed: list[tuple[Folder, SpooledBatch]] = field(default_factory=list)
    started: threading.Event = field(default_factory=threading.Event)
    stopped: bool = False
    abandoned: bool = False
    num_escapes: int = 0
    idle: threading.Event = field(default_factory=threading.Event)
    room_asked_for: int = 0

    def start(self, run_id: str) -> None:
        self.started.set()

    def offer(self, folder: Folder, spooled: SpooledBatch, *, resumed: bool = False) -> None:
        (self.resumed if resumed else self.offered).append((folder, spooled))
        self.deal(self, folder, spooled)

    def store(self, folder: Folder, spooled: SpooledBatch) -> None:
        self.listener.started(spooled, SINK)
        folder.acknowledge(spooled, SINK)
        receipt = UploadReceipt(upload_id=spooled.batch.digest, status="committed")
        self.listener.stored(spooled, SINK, receipt, True)

    def make_room(self) -> None:
        self.room_asked_for += 1

    def wait_idle(self, timeout_s: float) -> bool:
        return self.idle.wait(timeout_s)

    def stop(self, timeout_s: float) -> None:
        self.stopped = True

    def stats(self) -> list[SinkStats]:
        return [FIGURES]

    def abandon_after_fork(self) -> None:
        self.abandoned = True


def store(delivery: FakeDelivery, folder: Folder, spooled: SpooledBatch) -> None:
    delivery.store(folder, spooled)
    delivery.idle.set()


def hold(delivery: FakeDelivery, folder: Folder, spooled: SpooledBatch) -> None:
    """Let it wait, as where the service is down."""


workers: list[Worker] = []
"""The workers of all benches of a test."""


class Bench:
    """A worker whose parts the test can see."""

    def __init__(self, *, spool: bool = True, deal: Any = store, memory: int = 2, **settings: Any) -> None:
        self.disk = FakeFolder()
        self.memory = FakeFolder(on_disk=False, max_batches=memory)
        self.deliveries: list[FakeDelivery] = []
        self.events: list[Any] = []

        def new_delivery(sinks: Any, max_in_flight: int, listener: Listener) -> FakeDelivery:
            self.deliveries.append(FakeDelivery(listener, deal))
            return self.deliveries[-1]

        self.settings = WorkerSettings(
            sinks=(),
            new_delivery=new_delivery,
            open_folder=(lambda: self.disk) if spool else None,
            new_memory=lambda: self.memory,
            run_id="run",
            on_event=self.events.append,
        )
        self.settings = replace(self.settings, **settings)
        self.worker = Worker(self.settings)
        workers.append(self.worker)

    @property
    def delivery(self) -> FakeDelivery:
        return self.deliveries[-1]

    @property
    def counts(self) -> Any:
        return self.worker.stats.counts


def until(condition: Callable[[], object]) -> None:
    """Wait for something that other threads do."""
    end_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end_s, "it did not come about"
        time.sleep(0.002)


class Gated:
    """A record whose encoding waits until it is let through."""

    def __init__(self, body: bytes = b"{}") -> None:
        self.reached = threading.Event()
        self.gate = threading.Event()
        self.body = body

    def iter_json(self) -> Iterator[bytes]:
        self.reached.set()
        assert self.gate.wait(TIMEOUT_S)
        yield self.body


def lines_of(bench: Bench, line_format: LineFormat = LineFormat.EPISODE) -> list[bytes]:
    kept = [batch for batch in bench.disk.all if batch.line_format is line_format]
    return b"".join(map(bench.disk.text, kept)).splitlines()


class Broken:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def iter_json(self) -> Any:
        yield b'{"begun":'
        raise self.error
