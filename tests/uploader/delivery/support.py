"""A sink that follows a script, a listener that checks the order of what it is told, and batches."""

import asyncio
import gzip
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Self

from uploader.delivery.parcels import DeliveryListener
from uploader.delivery.sender import Sender
from uploader.errors import ValidationRejectedError
from uploader.models import LineFormat, UploadReceipt
from uploader.sealing import SealedBatch, Sealer
from uploader.sinks.base import SinkBatch
from uploader.spool.batches import Destination, SpooledBatch
from uploader.spool.memory import MemoryFolder

FOREVER_S = 1e6
"""Longer than any fake outage; pytest's own limit ends a test that hangs."""


def lines(count: int, start: int = 0) -> list[bytes]:
    return [b'{"n":%d}\n' % number for number in range(start, start + count)]


def sealed(content: Iterable[bytes]) -> SealedBatch:
    sealer = Sealer()
    for number, line in enumerate(content, 1):
        sealer.add([line], len(line), number)
    return sealer.seal()


def content_of(batch: SealedBatch) -> bytes:

    return gzip.decompress(b"".join(batch.pieces))


class Listener(DeliveryListener):
    """Remembers what it was told, and that nothing came out of turn."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.stored_digests: list[str] = []
        self.rejections: list[tuple[SpooledBatch, BaseException]] = []
        self.errors: list[BaseException] = []
        self.stops: list[BaseException] = []
        self.pauses: list[BaseException] = []
        self.delays_s: list[float] = []
        self.under_way: set[tuple[int, str]] = set()

    def started(self, spooled: SpooledBatch, sink: str) -> None:
        assert (spooled.seq, sink) not in self.under_way
        self.under_way.add((spooled.seq, sink))
        self.events.append(("started", spooled.seq, sink))

    def stored(self, spooled: SpooledBatch, sink: str, receipt: UploadReceipt, last: bool) -> None:
        self.under_way.remove((spooled.seq, sink))
        self.stored_digests.append(receipt.upload_id)
        self.events.append(("stored", spooled.seq, sink, last))

    def returned(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        self.under_way.remove((spooled.seq, sink))
        self.errors.append(error)
        self.events.append(("returned", spooled.seq, sink))

    def divided(self, spooled: SpooledBatch, parts: list[SpooledBatch]) -> None:
        assert not [sink for seq, sink in self.under_way if seq == spooled.seq]
        self.events.append(("divided", spooled.seq, [part.seq for part in parts]))

    def rejected(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        self.under_way.discard((spooled.seq, sink))
        self.rejections.append((spooled, error))
        self.events.append(("rejected", spooled.seq, sink))

    def dropped(self, spooled: SpooledBatch, sinks: str) -> None:
        self.under_way -= {(spooled.seq, sink) for sink in sinks.split(", ")}
        self.events.append(("dropped", spooled.seq, sinks))

    def retrying(self, sink: str, error: BaseException, delay_s: float) -> None:
        self.delays_s.append(delay_s)

    def paused(self, sink: str, error: BaseException) -> None:
        self.pauses.append(error)

    def stopped(self, sink: str, error: BaseException) -> None:
        self.stops.append(error)

    def kinds(self, sink: str = "") -> list[str]:
        return [event[0] for event in self.events if not sink or sink in event]


Answer = Exception | None | Callable[[SinkBatch], Any]
"""An error to raise; None to store; or a function that may raise, or gives (or awaits) one of them."""


class ScriptedSink:
    """Answers by a script; after its end it stores.

    Attributes:
        batches: what it was sent, in order.
        runs: what it was started for.
    """

    def __init__(self, script: Iterable[Answer] = (), *, name: str = "test", always: Answer = None) -> None:
        self.name = name
        self.destination = Destination(name, f"https://{name}.test")
        self.batches: list[SealedBatch] = []
        self.stored: list[bytes] = []
        self.runs: list[str] = []
        self.starts: deque[Exception | None] = deque()
        self.closed = False
        self.most_at_once = self._at_once = 0
        self._script = deque(script)
        self._always = always

    async def start(self, run_id: str) -> None:
        self.runs.append(run_id)
        error = self.starts.popleft() if self.starts else None
        if error is not None:
            raise error

    async def send(self, batch: SinkBatch) -> UploadReceipt:
        self.batches.append(batch.sealed)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = self._script.popleft() if self._script else self._always
            while callable(answer) or asyncio.iscoroutine(answer):
                answer = await answer if asyncio.iscoroutine(answer) else answer(batch)
            if answer is not None:
                raise answer
            self.stored.append(content_of(batch.sealed))
            return UploadReceipt(upload_id=batch.sealed.batch.digest, status="committed")
        finally:
            self._at_once -= 1

    async def close(self) -> None:
        self.closed = True


def refusing(*bad: bytes) -> Callable[[SinkBatch], Exception | None]:
    """A service that takes no batch with one of these lines in it."""

    def answer(batch: SinkBatch) -> Exception | None:
        found = set(content_of(batch.sealed).splitlines(keepends=True)) & set(bad)
        return ValidationRejectedError("bad", status_code=400, code="invalid_trace") if found else None

    return answer


class Delivery:
    """A sender with its sinks, its listener and a folder in memory; a context manager."""

    def __init__(self, *sinks: Any, max_in_flight: int = 8) -> None:
        self.sinks = sinks
        self.listener = Listener()
        self.sender = Sender(sinks, max_in_flight=max_in_flight, listener=self.listener)
        self.folder = MemoryFolder("run", [sink.destination for sink in sinks], max_batches=10_000)

    def offer(self, content: Iterable[bytes], line_format: LineFormat = LineFormat.TRACE) -> SpooledBatch:
        spooled = self.folder.add(line_format, sealed(content))
        assert self.sender.offer(self.folder, spooled)
        return spooled

    def deliver(self) -> None:
        """Send everything there is."""
        self.sender.start("run")
        assert self.sender.wait_idle(FOREVER_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.sender.stop(FOREVER_S)
        assert self.listener.under_way == set()
