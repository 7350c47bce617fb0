"""Reads a few things ahead of whoever takes them, in order, on daemon threads: Ctrl-C waits for none of them."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")
ResultT = TypeVar("ResultT")


def read_ahead(
    read: Callable[[T], ResultT], things: Iterable[T], at_once: int
) -> Iterator[tuple[T, Callable[[], ResultT]]]:
    """Each thing with what gives its result, or raises its error; at most `at_once` results are there at a time.

    Args:
        read: called in a thread.
        things: what to read.
        at_once: how many.
    """
    readers = _Readers(read, at_once)
    under_way: deque[tuple[T, Future[ResultT]]] = deque()
    try:
        for thing in things:
            if len(under_way) >= at_once:
                yield _first(under_way)
            under_way.append((thing, readers.submit(thing)))
        while under_way:
            yield _first(under_way)
    except BaseException:
        readers.abandon()
        raise
    finally:
        readers.close()


def _first(under_way: "deque[tuple[T, Future[ResultT]]]") -> tuple[T, Callable[[], ResultT]]:
    thing, future = under_way.popleft()
    return thing, future.result


class _Readers(Generic[T, ResultT]):
    """Threads that read until they are closed, and of what they were given before that all, unless it is abandoned."""

    def __init__(self, read: Callable[[T], ResultT], num_threads: int) -> None:
        self._read = read
        self._jobs: queue.SimpleQueue[tuple[T, Future[ResultT]] | None] = queue.SimpleQueue()
        self._abandoned = threading.Event()
        for _ in range(num_threads):
            threading.Thread(target=self._work, name="uploader-pull", daemon=True).start()
        self._num_threads = num_threads

    def submit(self, thing: T) -> "Future[ResultT]":
        future: Future[ResultT] = Future()
        self._jobs.put((thing, future))
        return future

    def abandon(self) -> None:
        self._abandoned.set()

    def close(self) -> None:
        for _ in range(self._num_threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._abandoned.is_set():
            thing, future = job
            try:
                future.set_result(self._read(thing))
            except BaseException as error:  # noqa: BLE001 - raised where it was asked for
                future.set_exception(error)
            del job, thing, future  # or the last result would be kept until the next
