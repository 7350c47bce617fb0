"""The threads of a synchronous upload: the caller's makes batches and reports, a few others send.

No more than `max_in_flight` batches are under way and one more waits, so memory stays bounded whatever the source. An
interrupt may strike between any two steps of the calling thread; so what has ended is read from a queue that only
grows until it has been taken note of, and the end of an upload waits for the threads, not for a count.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from uploader.dispatch import Window
from uploader.errors import RecordFailure
from uploader.flow import Delivery
from uploader.models import UploadReceipt
from uploader.options import RecordHook, UploadOptions
from uploader.pumps import RetryHook, StoppedError
from uploader.retry import Sleep
from uploader.sealing import SealedBatch

Deliver = Callable[[Delivery, threading.Event, RetryHook], None]
"""Uploads one batch, blocking, until it is committed or an error says why not."""


class _Ended(NamedTuple):
    number: int
    error: BaseException | None


class ThreadedUpload:
    """One upload of many batches."""

    def __init__(self, deliver: Deliver, options: UploadOptions, on_record_error: RecordHook | None = None) -> None:
        self._deliver = deliver
        self._options = options
        self._on_record_error = on_record_error
        self._window = Window(options.max_in_flight)
        self._stop = threading.Event()
        self._jobs: queue.SimpleQueue[tuple[int, Delivery] | None] = queue.SimpleQueue()
        self._events: deque[_Ended | Sleep | RecordFailure] = deque()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._source_error: Exception | None = None

    def record_failed(self, error: RecordFailure) -> None:
        """For the source: a record was set aside. The hook is told, else the error is raised at the end."""
        self._events.append(error)

    def run(self, batches: Iterator[SealedBatch]) -> list[UploadReceipt]:
        """Send every batch of a source and return the receipts in batch order.

        Raises:
            UploaderError: a batch failed; its `receipts` are those that came all the same.
            BaseException: what the source or a hook raised, an interrupt included. In any case what was under way
                has ended, and what was committed has been reported.
        """
        try:
            self._send_all(batches)
        except BaseException as error:  # noqa: BLE001 - also an interrupt stops, and is raised again below
            self._window.stop(error)
        if self._source_error is not None:
            self._window.stop(self._source_error)
            self._source_error = None
        try:
            self._finish()
        except BaseException as error:  # an interrupt while waiting; a second one is obeyed at once
            if self._window.interrupted:
                raise
            self._window.stop(error)
            self._finish()
        self._window.raise_failure()
        return self._window.receipts

    def _send_all(self, batches: Iterator[SealedBatch]) -> None:
        while (delivery := self._next(batches)) is not None:
            self._settle()
            while self._window.failure is None and not self._window.has_room:
                self._wait()
            if self._window.failure is not None:
                return
            self._start(delivery)
            del delivery
        self._settle()
        while self._window.failure is None and self._window.in_flight:
            self._wait()

    def _next(self, batches: Iterator[SealedBatch]) -> Delivery | None:
        try:
            sealed = next(batches, None)
        except Exception as error:  # noqa: BLE001 - raised by `run`: what is under way is no worse for it
            self._source_error = error
            return None
        return None if sealed is None else Delivery(sealed)

    def _start(self, delivery: Delivery) -> None:
        if len(self._threads) <= self._window.in_flight:
            # Daemons: after a second interrupt nothing waits for them, nor should the interpreter's exit.
            thread = threading.Thread(target=self._work, name="uploader", daemon=True)
            self._threads.append(thread)
            thread.start()
        number = self._window.start(delivery)
        self._jobs.put((number, delivery))

    def _wait(self) -> None:
        self._wake.get()
        self._settle()

    def _settle(self) -> None:
        """Take note of what has happened on the other threads, and report what is due."""
        while self._events:
            event = self._events[0]
            if isinstance(event, _Ended):
                self._window.end(event.number, event.error)
                self._events.popleft()
            else:
                self._events.popleft()
                self._hear(event)
        if self._window.failure is None:
            self._report(final=False)

    def _hear(self, event: Sleep | RecordFailure) -> None:
        if not isinstance(event, Sleep):
            if self._on_record_error is not None and self._window.failure is None:
                self._on_record_error(event)
            else:
                self._window.set_aside(event)
        elif self._options.on_retry is not None and self._window.failure is None:
            self._options.on_retry(event)

    def _report(self, *, final: bool) -> None:
        for batch, receipt in self._window.due(final=final):
            if self._options.on_batch is not None:
                self._options.on_batch(batch, receipt)

    def _finish(self) -> None:
        """Let what is under way end, then report the rest."""
        if self._window.failure is not None:
            self._stop.set()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        self._settle()
        try:
            self._report(final=True)
        except BaseException as error:  # noqa: BLE001 - raised by `run`, unless something came before
            self._window.stop(error)
            for _ in self._window.due(final=True):  # the receipts still count
                pass

    def _work(self) -> None:
        """A sending thread."""
        while (job := self._jobs.get()) is not None:
            number, delivery = job
            error: BaseException | None = None
            try:
                self._deliver(delivery, self._stop, self._retrying)
            except StoppedError:
                pass  # something else failed, and says so
            except BaseException as exc:  # noqa: BLE001 - handed to the calling thread
                error = exc
                self._stop.set()
            self._post(_Ended(number, error))
            del job, delivery, error

    def _retrying(self, sleep: Sleep) -> None:
        self._post(sleep)

    def _post(self, event: _Ended | Sleep) -> None:
        self._events.append(event)
        self._wake.put(None)
