"""A thread that calls one function after the other, for those who must not wait for what they call."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Final, TypeAlias

from uploader.monitors.failures import Failures
from uploader.pumps import StoppedError
from uploader.worker.beginning import Beginning

Job: TypeAlias = Callable[[], object]

_SLICE_S: Final = 0.05
_GRACE_S: Final = 0.4


class WorkQueue:
    """Calls functions in order, in a thread of its own. What one raises is noted, and concerns no other.

    Args:
        name: the thread's name.
        doing: what the functions do, in words.
        failures: what is told of those that fail.
        max_jobs: the most functions that wait.

    Attributes:
        dropped: the items of functions that were not called, for want of room or time, or that failed.
        stopped: set when time is over: a function that waits gives up.
    """

    def __init__(self, name: str, doing: str, failures: Failures, max_jobs: int) -> None:
        self._name = name
        self._doing = doing
        self._failures = failures
        self._max_jobs = max_jobs
        self._jobs: SimpleQueue[tuple[Job, int] | None] = SimpleQueue()
        self._closed = False
        self._beginning = Beginning()
        self._ended = threading.Event()
        self.dropped = 0
        self.stopped = threading.Event()

    @property
    def waiting(self) -> int:
        """How many functions wait."""
        return self._jobs.qsize()

    @property
    def is_begun(self) -> bool:
        """Whether the thread was started, or is about to be."""
        return self._beginning.begun

    def start(self) -> None:
        """Have the thread started, unless it is; it waits for nothing."""
        if not self._beginning.begun and not self._closed:
            with suppress(RuntimeError):
                self._beginning.begin(threading.Thread(target=self._work, name=self._name, daemon=True).start)

    def put(self, job: Job, items: int = 1) -> bool:
        """Have a function called.

        Args:
            job: the function.
            items: how many rows or records are lost if it is not called.

        Returns:
            Whether it will be; False if there is no room, or the queue has ended.
        """
        if self._closed or self._jobs.qsize() >= self._max_jobs:
            self.dropped += items
            return False
        self._jobs.put((job, items))
        self.start()
        return True

    def flush(self, timeout_s: float | None, stop: threading.Event) -> bool:
        """Wait until all that was put before was called; whether it was.

        Args:
            timeout_s: how long; None for as long as it takes.
            stop: ends the waiting.
        """
        if self._closed or not self._beginning.has_begun():
            return True
        passed = threading.Event()
        self._jobs.put((passed.set, 0))
        return _wait(passed, timeout_s, stop)

    def close(self, last: Job, timeout_s: float, hurry: threading.Event) -> bool:
        """Wait until everything and then a last function was called, and end.

        Args:
            last: called at the end; not if there is no time for it.
            timeout_s: how long.
            hurry: ends the waiting.

        Returns:
            Whether all were called.
        """
        self._closed = True
        if not self._beginning.has_begun():
            return True
        self._jobs.put((last, 0))
        self._jobs.put(None)
        if _wait(self._ended, timeout_s, hurry):
            return True
        self.stopped.set()
        self._ended.wait(_GRACE_S)
        return False

    def _work(self) -> None:
        while (next_one := self._jobs.get()) is not None:
            job, items = next_one
            del next_one
            try:
                if self.stopped.is_set():
                    raise StoppedError
                job()
            except StoppedError:
                self.dropped += items
            except BaseException as error:  # noqa: BLE001 - the thread goes on, whatever a strange library raises
                self.dropped += items
                self._failures.note(self._doing, error)
            del job  # and with it the record that it holds
        self._ended.set()


def _wait(event: threading.Event, timeout_s: float | None, stop: threading.Event) -> bool:
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while not event.wait(_SLICE_S if deadline is None else min(_SLICE_S, max(0.0, deadline - time.monotonic()))):
        if stop.is_set() or (deadline is not None and time.monotonic() >= deadline):
            return event.is_set()
    return True
