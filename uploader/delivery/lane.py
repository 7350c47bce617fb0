"""One sink at work: starts what its queue says, makes one attempt each, and does what the verdict says."""

import asyncio
import logging
from contextlib import suppress

from uploader.clock import get_clock
from uploader.delivery.calls import DaemonCalls
from uploader.delivery.health import Health
from uploader.delivery.parcels import DeliveryListener, Parcel
from uploader.delivery.queue import SinkQueue
from uploader.delivery.settling import Settlement
from uploader.delivery.stats import SinkStats, Tally
from uploader.delivery.verdicts import Verdict, verdict_on
from uploader.errors import DamagedBatchError, SpoolError, TransportError, clear_frames
from uploader.models import UploadReceipt
from uploader.sinks.base import Sink, SinkBatch

logger = logging.getLogger("uploader")

_DISK_PAUSE_S = 15.0
"""How long a batch waits that its folder could not read or divide."""

_TICK_S = 0.001
"""The shortest sleep: a clock may wake a hair too early, and time would stand still for one that only counts sleeps."""


class Lane:
    """One sink and its queue. Everything but `stats` is called on the sender's loop.

    Args:
        sink: where the batches go.
        max_in_flight: the most requests under way.
        calls: runs what waits for the disk.
        settlement: is told how each attempt ended.
        listener: is told how the sink fares.

    Attributes:
        stopped: why the sink takes nothing any more; None while it does.
        tally: where each batch for it is.
    """

    def __init__(
        self, sink: Sink, max_in_flight: int, calls: DaemonCalls, settlement: Settlement, listener: DeliveryListener
    ) -> None:
        self.name = sink.name
        self.stopped: BaseException | None = None
        self.tally = Tally()
        self._sink = sink
        self._queue: SinkQueue[Parcel] = SinkQueue(max_in_flight, lambda: get_clock().jitter())
        self._calls = calls
        self._settlement = settlement
        self._listener = listener
        self._tasks: dict[Parcel, asyncio.Task[None]] = {}
        self._wake, self._starting, self._started = asyncio.Event(), asyncio.Lock(), False
        self._health = Health(sink.name)

    # What comes and goes

    def put(self, parcel: Parcel) -> None:
        """Let a batch wait."""
        self._queue.put(parcel)
        self._wake.set()

    def put_off(self, parcel: Parcel) -> None:
        """Let a batch wait for a while at least."""
        self._queue.put_off(parcel, get_clock().monotonic() + _DISK_PAUSE_S)
        self._wake.set()

    def discard(self, parcel: Parcel) -> None:
        """Forget a batch that waits, if it does."""
        self._queue.discard(parcel)

    def hurry(self) -> None:
        """Go on now, unless the service asked for a pause."""
        self._queue.hurry(get_clock().monotonic())
        self._wake.set()

    def let_go(self, parcel: Parcel) -> None:
        """Forget a batch that nobody keeps any more, also if it is under way."""
        self._queue.discard(parcel)
        self.tally.drop(parcel)
        if parcel in self._tasks:
            self._tasks[parcel].cancel()

    @property
    def is_failing(self) -> bool:
        """Whether others should not wait for this sink."""
        return self.stopped is not None or self._health.is_failing(get_clock().monotonic())

    def stats(self) -> SinkStats:
        """The sink at this moment; from any thread."""
        left_s = self._queue.paused_until - get_clock().monotonic()
        paused = left_s > 0
        return SinkStats(
            name=self.name,
            **self.tally.figures(),
            concurrency=self._queue.concurrency.limit,
            paused_until=get_clock().now().timestamp() + left_s if paused else None,
            paused_reason=self._health.reason if paused else "",
            stopped_reason="" if self.stopped is None else str(self.stopped) or type(self.stopped).__name__,
        )

    # The loop

    async def run(self, run_id: str) -> None:
        """Send until cancelled; what is under way then goes on."""
        self._wake, self._starting, self._started = asyncio.Event(), asyncio.Lock(), False  # they belong to one loop
        while self.stopped is None:
            self._wake.clear()
            now = get_clock().monotonic()
            while (parcel := self._queue.start(now, lambda parcel: parcel.size)) is not None:
                self._start(parcel, run_id)
            wake_at = self._queue.wake_at(now)
            if wake_at is None:
                await self._wake.wait()
            else:
                await get_clock().asleep(max(_TICK_S, wake_at - now), self._wake)

    async def end(self, timeout_s: float) -> None:
        """Let what is under way end, then cancel it. It is given up when it does not even heed that."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=timeout_s)
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=0.1)
        with suppress(Exception):
            await asyncio.wait_for(self._sink.close(), 0.1)

    def recover(self) -> None:
        """The loop is gone: what was under way waits again."""
        self._tasks.clear()
        for parcel in self._queue.under_way():
            parcel.under_way.discard(self.name)
            self.tally.stop(parcel)
            self._give_up(parcel)

    def _start(self, parcel: Parcel, run_id: str) -> None:
        parcel.under_way.add(self.name)
        self.tally.start(parcel)
        self._health.asked(get_clock().monotonic())
        self._settlement.tell(parcel.listener.started, parcel.spooled, self.name)
        task = asyncio.get_running_loop().create_task(self._deliver(parcel, run_id), name="uploader request")
        self._tasks[parcel] = task

    async def _deliver(self, parcel: Parcel, run_id: str) -> None:
        try:
            try:
                receipt, latency_s = await self._attempt(parcel, run_id)
            except Exception as error:  # noqa: BLE001 - the verdict says what is to be done
                clear_frames(error)  # of megabytes of body
                await self._failed(parcel, error)
            else:
                await self._stored(parcel, receipt, latency_s)
        except asyncio.CancelledError:
            self._give_up(parcel)
            raise
        except BaseException:
            self._settlement.num_escapes += 1
            logger.exception("the sender failed; the batch waits")
            self._give_up(parcel)
        finally:
            self._tasks.pop(parcel, None)
            self._health.heard(get_clock().monotonic(), waits_still=bool(self._tasks))
            if not self._settlement.has(parcel):  # another sink found it damaged
                self.tally.reject(parcel)
            self.tally.stop(parcel)
            self._settlement.ended(parcel, self.name)
            self._wake.set()

    async def _attempt(self, parcel: Parcel, run_id: str) -> tuple[UploadReceipt, float]:
        async with self._starting:
            if not self._started:
                await self._sink.start(run_id)
                self._started = True
        spooled = parcel.spooled
        sealed = await self._calls.call(parcel.folder.load, spooled)
        started_at = get_clock().monotonic()
        batch = SinkBatch(spooled.run_id, spooled.line_format, sealed, spooled.context)
        receipt = await self._sink.send(batch)
        return receipt, get_clock().monotonic() - started_at

    # What an attempt led to

    async def _stored(self, parcel: Parcel, receipt: UploadReceipt, latency_s: float) -> None:
        self._queue.stored(parcel, get_clock().monotonic(), parcel.size, latency_s)
        self.tally.store(parcel)
        self._health.stored()
        await self._settlement.stored(parcel, self.name, receipt)

    async def _failed(self, parcel: Parcel, error: Exception) -> None:
        verdict = verdict_on(error)
        if verdict is Verdict.DIVIDE and not (parcel.num_records > 1 and parcel.origin.may_divide()):
            verdict = Verdict.REJECT
        if isinstance(error, DamagedBatchError):
            self._queue.given_up(parcel)
            self._settlement.damaged(parcel, self.name, error)
        elif isinstance(error, SpoolError):
            logger.warning("a batch cannot be read, and waits: %s", error)
            self._queue.given_up(parcel)
            self._tell_returned(parcel, error)
            self.put_off(parcel)
        elif verdict is Verdict.STOP:
            self._queue.given_up(parcel)
            self._return(parcel, error)
            self._stop(error)
        elif verdict is Verdict.DIVIDE:
            self._queue.judged(parcel)
            self._tell_returned(parcel, error)
            self._settlement.ask_division(parcel, self.name, error)
        elif verdict is Verdict.REJECT:
            self._queue.judged(parcel)
            await self._settlement.rejected(parcel, self.name, error)
        else:
            self._again(parcel, error, verdict)

    def _again(self, parcel: Parcel, error: Exception, verdict: Verdict) -> None:
        now = get_clock().monotonic()
        if verdict is Verdict.LATER:
            self.tally.refusals += 1
            delay_s = self._queue.refused(parcel, now, getattr(error, "retry_after", None))
        else:
            self.tally.retries += 1
            delay_s = self._queue.failed(parcel, now)
        self._tell_returned(parcel, error)
        self._settlement.tell(self._listener.retrying, self.name, error, delay_s)
        if self._health.failed(error, self._queue.failures, delay_s):
            self._settlement.tell(self._listener.paused, self.name, error)

    def _stop(self, error: Exception) -> None:
        if self.stopped is None:
            self.stopped = error
            logger.info("%s: stopped, batches are kept: %s", self.name, error)  # aloud by whoever listens
            self._settlement.tell(self._listener.stopped, self.name, error)

    def _give_up(self, parcel: Parcel) -> None:
        """An attempt was ended from outside; if it had no outcome yet, the batch waits."""
        if parcel in self._queue.under_way():
            self._queue.given_up(parcel)
            self._return(parcel, TransportError("the attempt was ended before there was an answer"))

    def _return(self, parcel: Parcel, error: BaseException) -> None:
        if self._settlement.has(parcel):
            self._queue.put(parcel)
            self._tell_returned(parcel, error)

    def _tell_returned(self, parcel: Parcel, error: BaseException) -> None:
        self._settlement.tell(parcel.listener.returned, parcel.spooled, self.name, error)
