"""The thread that delivers: an event loop with one lane for each sink.

It is a daemon, and so are the threads for the disk: the interpreter's exit waits for none of them. What escapes from
the loop is logged and counted, and the loop starts again with the same queues.
"""

import asyncio
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from uploader.delivery.calls import DaemonCalls
from uploader.delivery.lane import Lane
from uploader.delivery.loops import leave_behind, wind_up
from uploader.delivery.parcels import DeliveryListener, Parcel
from uploader.delivery.settling import Settlement
from uploader.delivery.stats import SinkStats
from uploader.limits import MAX_IN_FLIGHT
from uploader.sinks.base import Sink
from uploader.spool.batches import Folder, SpooledBatch

logger = logging.getLogger("uploader")

_DISK_THREADS = 3
_RESERVE_S = 0.3
"""How much of the time to stop is kept for cancelling."""
_RESTART_PAUSE_S = 0.5


class Sender:
    """Delivers batches to sinks for as long as it lives.

    Args:
        sinks: where batches go.
        max_in_flight: the most requests of one sink.
        listener: is told what becomes of batches.
    """

    def __init__(
        self, sinks: Sequence[Sink], *, max_in_flight: int = MAX_IN_FLIGHT, listener: DeliveryListener
    ) -> None:
        self._sinks = tuple(sinks)
        self._max_in_flight = max_in_flight
        self._listener = listener
        self._reset()

    def _reset(self) -> None:
        self._numbers = itertools.count()
        self._calls = DaemonCalls("uploader-disk", _DISK_THREADS)
        self._settlement = Settlement(self._calls, self._tell_waiters)
        self._lanes = {
            sink.name: Lane(sink, self._max_in_flight, self._calls, self._settlement, self._listener)
            for sink in self._sinks
        }
        self._settlement.lanes = self._lanes
        self._inbox: deque[Callable[[], None]] = deque()
        self._waiters: list[threading.Event] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopping = False
        self._stop_timeout_s = 0.0
        self._ended = threading.Event()
        self._num_restarts = 0

    # From any thread

    def start(self, run_id: str) -> None:
        """Start the thread; only the first call does.

        Raises:
            RuntimeError: the system gives no thread now; another call may start it.
        """
        if self._loop is None and not self._stopping:
            self._loop = asyncio.new_event_loop()
            try:
                threading.Thread(target=self._serve, args=(run_id,), name="uploader-sender", daemon=True).start()
            except RuntimeError:
                self._loop.close()
                self._loop = None
                raise

    def offer(
        self, folder: Folder, spooled: SpooledBatch, *, listener: DeliveryListener | None = None, resumed: bool = False
    ) -> bool:
        """Deliver a batch to those of its destinations that a sink of this sender is; it never waits.

        Args:
            folder: keeps the batch.
            spooled: the batch.
            listener: is told instead of the sender's own.
            resumed: whether an earlier run logged it; such go after all others.

        Returns:
            Whether there is such a sink.
        """
        waiting = {sink.name for sink in self._sinks if sink.destination in spooled.waiting_for}
        if not waiting or self._stopping:
            return False
        key = (int(resumed), next(self._numbers))
        has_others = len(waiting) < len(spooled.waiting_for)
        parcel = Parcel(folder, spooled, key, listener or self._listener, waiting, has_others, resumed=resumed)
        self._settlement.parcels[key] = parcel
        for name in waiting:
            self._lanes[name].tally.expect(parcel)
        self._call(lambda: self._put(parcel))
        return True

    def waiting(self) -> int:
        """How many batches of this run have not reached all their sinks, those of stopped sinks not counted."""
        return sum(1 for _ in self._settlement.unsettled())

    @property
    def _is_idle(self) -> bool:
        return next(self._settlement.unsettled(), None) is None

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until nothing of this run waits any more, or until the sender has ended; whether nothing does."""
        changed = threading.Event()
        self._waiters.append(changed)
        deadline = time.monotonic() + timeout_s  # a fake clock does not hold up a caller
        try:
            while not self._is_idle and not self._ended.is_set():
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return False
                changed.wait(left_s)
                changed.clear()
            return self._is_idle
        finally:
            self._waiters.remove(changed)

    def hurry(self) -> None:
        """Try again now what waits for a pause of our own; a pause that the service asked for is kept."""
        for lane in self._lanes.values():
            self._call(lane.hurry)

    def make_room(self) -> None:
        """Give up, where memory is all there is and full, what only failing sinks lack."""
        self._call(self._settlement.make_room)

    def stop(self, timeout_s: float) -> bool:
        """Start nothing more; give what is under way until shortly before the time is up, then cancel it.

        Another call only waits.

        Returns:
            Whether the thread has ended. One that is stuck is left behind; it is a daemon.
        """
        if not self._stopping:
            self._stop_timeout_s = timeout_s
            self._stopping = True
            self._call(self._set_stop)
        if self._loop is None:
            return True
        return self._ended.wait(timeout_s)

    def stats(self) -> list[SinkStats]:
        """Each sink at this moment."""
        return [lane.stats() for lane in self._lanes.values()]

    @property
    def num_escapes(self) -> int:
        """How many errors were caught that should not have been."""
        return self._num_restarts + self._settlement.num_escapes

    def abandon_after_fork(self) -> None:
        """In a forked child: forget all batches and the thread, which are the parent's. The child may start anew."""
        leave_behind(self._loop, self._calls, self._settlement, self._lanes)
        self._reset()

    # The thread

    def _serve(self, run_id: str) -> None:
        while True:
            loop = self._loop
            assert loop is not None  # noqa: S101 - made before the thread
            try:
                loop.run_until_complete(self._main(run_id))
            except BaseException:
                self._num_restarts += 1
                logger.exception("the sender's loop failed")
            else:
                break
            if self._stopping:
                break
            time.sleep(_RESTART_PAUSE_S)
            wind_up(loop)
            self._loop = asyncio.new_event_loop()
            for lane in self._lanes.values():
                lane.recover()
            self._settlement.recover()
        self._calls.close()
        wind_up(loop)
        self._ended.set()
        self._tell_waiters()

    async def _main(self, run_id: str) -> None:
        self._stop = asyncio.Event()
        if self._stopping:
            self._stop.set()
        self._drain()
        lanes = [asyncio.ensure_future(self._run(lane, run_id)) for lane in self._lanes.values()]
        await self._stop.wait()
        for task in lanes:
            task.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
        patience_s = max(0.0, self._stop_timeout_s - _RESERVE_S)
        end = asyncio.get_running_loop().time() + patience_s
        await asyncio.gather(*(lane.end(patience_s) for lane in self._lanes.values()))
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self._calls.wait_idle()

    async def _run(self, lane: Lane, run_id: str) -> None:
        while lane.stopped is None:
            try:
                await lane.run(run_id)
            except Exception:
                self._num_restarts += 1
                logger.exception("%s: the sender failed, and goes on", lane.name)
                await asyncio.sleep(_RESTART_PAUSE_S)
        self._tell_waiters()  # what waits for a stopped sink is waited for no longer

    def _put(self, parcel: Parcel) -> None:
        for name in parcel.waiting:
            self._lanes[name].put(parcel)

    def _set_stop(self) -> None:
        if self._stop is not None:
            self._stop.set()

    def _call(self, action: Callable[[], None]) -> None:
        """Run something on the loop, soon; before it starts it is kept."""
        self._inbox.append(action)
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        while self._inbox:
            self._inbox.popleft()()

    def _tell_waiters(self) -> None:
        for changed in list(self._waiters):
            changed.set()
