"""What becomes of a batch among all its sinks, and in its folder.

This is where a batch leaves: stored by its last sink, set aside, or replaced by its parts. Runs on the sender's loop;
what waits for the disk runs on daemon threads.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Protocol

from uploader.delivery.calls import DaemonCalls
from uploader.delivery.parcels import Parcel
from uploader.delivery.stats import Tally
from uploader.dividing import divide
from uploader.errors import DamagedBatchError
from uploader.models import UploadReceipt
from uploader.spool.batches import SpooledBatch

logger = logging.getLogger("uploader")


class Waiting(Protocol):
    """The queue of a sink, as far as a batch comes and goes.

    Attributes:
        stopped: why the sink takes nothing any more; None while it does.
        tally: where each batch for it is.
    """

    stopped: BaseException | None
    tally: Tally

    def put(self, parcel: Parcel) -> None:
        """Let a batch wait."""

    def put_off(self, parcel: Parcel) -> None:
        """Let a batch wait for a while at least."""

    def discard(self, parcel: Parcel) -> None:
        """Forget a batch that waits, if it does."""

    def let_go(self, parcel: Parcel) -> None:
        """Forget a batch that nobody keeps any more, also if it is under way."""

    @property
    def is_failing(self) -> bool:
        """Whether others should not wait for this sink."""


class Settlement:
    """The batches on their way.

    Args:
        calls: runs what waits for the disk.
        on_change: called after a batch has left.

    Attributes:
        parcels: all that have not left, by key.
        lanes: the queues of all sinks, by name.
        num_escapes: how many errors of a listener were caught.
    """

    def __init__(self, calls: DaemonCalls, on_change: Callable[[], None]) -> None:
        self.parcels: dict[tuple[int, ...], Parcel] = {}
        self.lanes: Mapping[str, Waiting] = {}
        self.num_escapes = 0
        self._calls = calls
        self._on_change = on_change
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, call: Callable[..., None], *args: Any) -> None:
        """Call a listener; its errors are logged, and end nothing."""
        try:
            call(*args)
        except Exception:
            self.num_escapes += 1
            logger.exception("a delivery listener failed")

    async def stored(self, parcel: Parcel, sink: str, receipt: UploadReceipt) -> None:
        """A sink has a batch."""
        parcel.waiting.discard(sink)
        last = not parcel.waiting and not parcel.rejections
        try:
            if last or parcel.waiting:
                let_go = await self._calls.call(parcel.folder.acknowledge, parcel.spooled, sink)
                last = last and (let_go or not parcel.has_others)
        except Exception as error:  # noqa: BLE001 - it is stored all the same; sent again it is stored once
            logger.warning("batch %d is stored, which could not be noted: %s", parcel.spooled.seq, error)
        finally:  # also when cancelled
            self.tell(parcel.listener.stored, parcel.spooled, sink, receipt, last)
            if not parcel.waiting and not parcel.rejections:
                self._leave(parcel)
        await self._leave_if_settled(parcel)

    async def rejected(self, parcel: Parcel, sink: str, error: BaseException) -> None:
        """A sink will never take a batch. It is set aside once the others have it."""
        parcel.rejections[sink] = error
        self.lanes[sink].tally.reject(parcel)
        parcel.waiting.discard(sink)
        if parcel.waiting:
            self.tell(parcel.listener.returned, parcel.spooled, sink, error)
        await self._leave_if_settled(parcel)

    def damaged(self, parcel: Parcel, sink: str, error: DamagedBatchError) -> None:
        """A batch cannot be read; its folder has set it aside."""
        logger.info("a batch was set aside: %s", error)
        for name in parcel.waiting - (parcel.under_way - {sink}):  # one that is being given it now may get it
            self.lanes[name].tally.reject(parcel)
        parcel.waiting.clear()
        for lane in self.lanes.values():
            lane.discard(parcel)
        self.tell(parcel.listener.rejected, parcel.spooled, sink, error)
        self._leave(parcel)

    def ask_division(self, parcel: Parcel, sink: str, error: BaseException) -> None:
        """A sink takes a batch in parts only; it is divided when no sink has it under way."""
        parcel.division = parcel.division or (sink, error)
        for lane in self.lanes.values():
            lane.discard(parcel)

    def ended(self, parcel: Parcel, sink: str) -> None:
        """A sink has a batch under way no longer; the last word about one that is to be divided."""
        parcel.under_way.discard(sink)
        if parcel.division is None or parcel.key not in self.parcels:
            return
        self.lanes[sink].discard(parcel)
        if not parcel.under_way:
            self._spawn(self._divide(parcel, *parcel.division))

    def has(self, parcel: Parcel) -> bool:
        """Whether a batch has not left."""
        return parcel.key in self.parcels

    def unsettled(self) -> Iterator[Parcel]:
        """The batches of this run that have not reached all their sinks, those of stopped sinks not counted."""
        stopped = {name for name, lane in self.lanes.items() if lane.stopped is not None}
        parcels = list(self.parcels.values())
        # One that waits for no sink is just leaving its folder.
        return (each for each in parcels if not each.resumed and not (each.waiting and each.waiting <= stopped))

    def make_room(self) -> None:
        """Give up one batch that is in memory alone, and that none but failing sinks lack: others would wait for it.

        One that no sink has yet is kept, and so is all that a disk keeps.
        """
        for parcel in self.parcels.values():
            others_have_it = 0 < len(parcel.waiting) < len(parcel.spooled.waiting_for)
            if parcel.spooled.on_disk or not others_have_it or parcel.division is not None:
                continue
            if all(self.lanes[name].is_failing for name in parcel.waiting):
                self._drop(parcel)
                return

    def recover(self) -> None:
        """The loop is gone, and with it what was being divided: it waits again."""
        self._tasks.clear()
        for parcel in list(self.parcels.values()):
            if parcel.division is not None:
                self._put_off(parcel)

    async def _divide(self, parcel: Parcel, sink: str, error: BaseException) -> None:
        try:
            spooled = await self._calls.call(_divided, parcel)
        except DamagedBatchError as damage:
            self.damaged(parcel, sink, damage)
            return
        except Exception as failure:  # noqa: BLE001 - the disk may be full: later
            logger.warning("batch %d could not be divided, and waits: %s", parcel.spooled.seq, failure)
            self._put_off(parcel)
            return
        if not spooled:
            parcel.division = None
            for name in parcel.waiting - {sink}:
                self.lanes[name].put(parcel)
            await self.rejected(parcel, sink, error)
            return
        parts = parcel.parts(spooled)
        del self.parcels[parcel.key]
        self.parcels.update((part.key, part) for part in parts)
        for name in parcel.waiting:
            self.lanes[name].tally.divide(parcel, parts)
        self.tell(parcel.listener.divided, parcel.spooled, spooled)
        for part in parts:
            for name in part.waiting:
                self.lanes[name].put(part)

    def _put_off(self, parcel: Parcel) -> None:
        parcel.division = None
        parcel.origin.give_back()
        for name in parcel.waiting:
            self.lanes[name].put_off(parcel)

    async def _leave_if_settled(self, parcel: Parcel) -> None:
        if parcel.waiting or parcel.key not in self.parcels:
            return
        if parcel.rejections:
            await self._set_aside(parcel, *next(iter(parcel.rejections.items())))
        else:
            self._leave(parcel)

    async def _set_aside(self, parcel: Parcel, sink: str, error: BaseException) -> None:
        logger.info("%d records are set aside: %s", parcel.num_records, error)  # aloud by whoever listens
        try:
            await self._calls.call(parcel.folder.set_aside, parcel.spooled, str(error) or repr(error))
        except Exception as failure:  # noqa: BLE001 - it stays where it is, and the next run tries again
            logger.warning("batch %d could not be moved to the rejected ones: %s", parcel.spooled.seq, failure)
        finally:  # also when cancelled
            self.tell(parcel.listener.rejected, parcel.spooled, sink, error)
            self._leave(parcel)

    def _drop(self, parcel: Parcel) -> None:
        sinks, parcel.waiting = sorted(parcel.waiting), set()
        del self.parcels[parcel.key]
        parcel.folder.set_aside(parcel.spooled, "there was no room to keep it")  # of memory: it waits for nothing
        for name in sinks:
            self.lanes[name].let_go(parcel)
        self.tell(parcel.listener.dropped, parcel.spooled, ", ".join(sinks))
        self._on_change()

    def _leave(self, parcel: Parcel) -> None:
        self.parcels.pop(parcel.key, None)
        self._on_change()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name="uploader division")
        self._tasks.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.num_escapes += 1
            logger.error("the sender failed", exc_info=error)


def _divided(parcel: Parcel) -> list[SpooledBatch]:
    """In a thread: the parts that a batch was replaced by, none if it is one line."""
    parts = divide(parcel.folder.load(parcel.spooled))
    return parcel.folder.divide(parcel.spooled, parts) if len(parts) > 1 else []
