"""The tasks of an asynchronous upload: the caller's reports, one makes batches, a few others send.

The source is iterated by a single task from its first step to its closing, since generators may hold time-outs and task
groups that belong to one task. No more than `max_in_flight` batches are under way and one more waits. When this returns
or raises, no task and no thread of it is left.
"""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Any, NamedTuple

from uploader.dispatch import Window
from uploader.errors import RecordFailure, clear_frames
from uploader.flow import Delivery
from uploader.models import UploadReceipt
from uploader.options import RecordHook, UploadOptions
from uploader.pumps import RetryHook, StoppedError
from uploader.retry import Sleep
from uploader.sealing import SealedBatch

AsyncDeliver = Callable[[Delivery, asyncio.Event, RetryHook], Awaitable[None]]
"""Uploads one batch until it is committed or an error says why not."""


class _Ended(NamedTuple):
    number: int
    error: BaseException | None


class AsyncUpload:
    """One upload of many batches, on one event loop."""

    def __init__(
        self, deliver: AsyncDeliver, options: UploadOptions, on_record_error: RecordHook | None = None
    ) -> None:
        self._deliver = deliver
        self._options = options
        self._on_record_error = on_record_error
        self._loop = asyncio.get_running_loop()
        self._window = Window(options.max_in_flight)
        self._stop = asyncio.Event()
        self._events: deque[_Ended | Sleep | RecordFailure] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._source_error: Exception | None = None

    def record_failed(self, error: RecordFailure) -> None:
        """For the source, from its thread: a record was set aside. The hook is told, else the error is raised."""
        self._events.append(error)
        self._loop.call_soon_threadsafe(self._wake.set)

    async def run(self, batches: AsyncGenerator[SealedBatch, None]) -> list[UploadReceipt]:
        """Send every batch of a source and return the receipts in batch order. The source is closed.

        Raises:
            UploaderError: a batch failed; its `receipts` are those that came all the same.
            BaseException: what the source or a hook raised, or the caller's cancellation, which also cancels what is
                under way. In any case nothing is left running, and what was committed has been reported.
        """
        producer = asyncio.create_task(self._produce(batches), name="uploader source")
        producer.add_done_callback(lambda _: self._wake.set())
        try:
            while self._window.failure is None and (self._events or self._window.in_flight or not producer.done()):
                await self._wake.wait()
                self._wake.clear()
                await self._settle()
        except BaseException as error:  # noqa: BLE001 - raised again below
            self._window.stop(error)
        if self._source_error is not None:
            self._window.stop(self._source_error)
            self._source_error = None
        await self._finish(producer)
        self._window.raise_failure()
        return self._window.receipts

    async def _produce(self, batches: AsyncGenerator[SealedBatch, None]) -> None:
        try:
            async with aclosing(batches):
                async for sealed in batches:
                    delivery = Delivery(sealed)
                    del sealed
                    while not self._window.has_room:
                        self._room.clear()
                        await self._room.wait()
                    self._start(delivery)
        except Exception as error:  # noqa: BLE001 - raised by `run`: what is under way is no worse for it
            self._source_error = error
        except asyncio.CancelledError as error:
            clear_frames(error)
            raise

    def _start(self, delivery: Delivery) -> None:
        number = self._window.start(delivery)
        task = asyncio.create_task(self._send(number, delivery), name="uploader request")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, number: int, delivery: Delivery) -> None:
        error: BaseException | None = None
        try:
            await self._deliver(delivery, self._stop, self._post)
        except StoppedError:
            pass  # something else failed, and says so
        except Exception as exc:  # noqa: BLE001 - handed to the calling task
            error = exc
            self._stop.set()
        finally:
            self._post(_Ended(number, error))

    def _post(self, event: _Ended | Sleep) -> None:
        self._events.append(event)
        self._wake.set()

    async def _settle(self) -> None:
        """Take note of what has happened in the other tasks, and report what is due."""
        while self._events:
            event = self._events.popleft()
            if isinstance(event, _Ended):
                self._window.end(event.number, event.error)
                self._room.set()
            elif not isinstance(event, Sleep):
                if self._on_record_error is not None and self._window.failure is None:
                    await _called(self._on_record_error(event))
                else:
                    self._window.set_aside(event)
            elif self._options.on_retry is not None and self._window.failure is None:
                await _called(self._options.on_retry(event))
        if self._window.failure is None:
            await self._report(final=False)

    async def _report(self, *, final: bool) -> None:
        for batch, receipt in self._window.due(final=final):
            if self._options.on_batch is not None:
                await _called(self._options.on_batch(batch, receipt))

    async def _finish(self, producer: asyncio.Task[None]) -> None:
        """Let what is under way end, or end it when the caller was cancelled; then report the rest."""
        if self._window.failure is not None:
            self._stop.set()
            producer.cancel()
        await self._ended([producer])  # first: it may still start a batch
        await self._ended(list(self._tasks))
        await self._settle()
        try:
            await self._report(final=True)
        except BaseException as error:  # noqa: BLE001 - raised by `run`, unless something came before
            self._window.stop(error)
            for _ in self._window.due(final=True):  # the receipts still count
                pass

    async def _ended(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        if self._window.interrupted:
            for task in tasks:
                task.cancel()
        while pending := [task for task in tasks if not task.done()]:
            try:
                await asyncio.wait(pending)
            except asyncio.CancelledError as error:
                self._window.stop(error)
                for task in pending:
                    task.cancel()


async def _called(result: Any) -> None:
    """Await what a hook returned, if it is a coroutine function's."""
    if inspect.isawaitable(result):
        await result
