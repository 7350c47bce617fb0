"""Blocking calls for an event loop, on a few daemon threads: nobody waits for them at the interpreter's exit.

Both executors of the standard library would: their threads are joined, whatever they are stuck in.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_Job = Callable[[], None]


class DaemonCalls:
    """Runs calls that wait for a disk, or that compute for long.

    Args:
        name: of the threads.
        max_threads: how many calls run at once; a thread starts when there is work for it.
    """

    def __init__(self, name: str, max_threads: int) -> None:
        self._name = name
        self._max_threads = max_threads
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._num_threads = 0
        self._pending: set[asyncio.Future[Any]] = set()

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function in a thread. A cancelled caller leaves it running."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._pending.add(done)
        done.add_done_callback(self._pending.discard)
        self._jobs.put(partial(_run, loop, done, partial(function, *args, **kwargs)))
        if self._num_threads < min(len(self._pending), self._max_threads):
            self._start_thread()
        return await asyncio.shield(done)

    def _start_thread(self) -> None:
        try:
            threading.Thread(target=_work, args=(self._jobs,), name=self._name, daemon=True).start()
        except RuntimeError:  # at the interpreter's exit Python 3.12 starts no thread
            if not self._num_threads:
                job = self._jobs.get()
                assert job is not None  # noqa: S101 - it was just put
                job()
        else:
            self._num_threads += 1

    async def wait_idle(self) -> None:
        """Return once no call of this loop is running or waiting."""
        loop = asyncio.get_running_loop()
        while pending := [done for done in self._pending if done.get_loop() is loop]:
            await asyncio.wait(pending)

    def close(self) -> None:
        """Let each thread end after what it does now."""
        for _ in range(self._num_threads):
            self._jobs.put(None)
        self._num_threads = 0


def _work(jobs: "queue.SimpleQueue[_Job | None]") -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # or it, and the batch that it made, would be kept until the next


def _run(loop: asyncio.AbstractEventLoop, done: asyncio.Future[T], function: Callable[[], T]) -> None:
    try:
        tell = partial(_set_result, done, function())
    except BaseException as error:  # noqa: BLE001 - raised where it was asked for
        tell = partial(_set_error, done, error)
    with suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(tell)


def _set_result(done: asyncio.Future[T], result: T) -> None:
    if not done.done():
        done.set_result(result)


def _set_error(done: asyncio.Future[Any], error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
        done.exception()  # asked for, or one that a cancelled caller left behind would be logged
