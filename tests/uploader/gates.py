"""Requests that wait: for each other, or to be let through, on threads or on an event loop; sources that fail."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from tests.uploader.faces import Face, lines
from uploader.testing import Recorded


class Meeting:
    """A place where requests wait until so many have come, on threads or on an event loop; sources that fail."""

    def __init__(self, face: Face, count: int) -> None:
        self.most = 0
        self._face = face
        self._count = count
        self._inside = 0
        self._threads = threading.Barrier(count, timeout=30)
        self._tasks: asyncio.Barrier | None = None
        self._lock = threading.Lock()

    def __call__(self, _: Recorded) -> Any:
        return self._ameet() if self._face.is_async else self._meet()

    def _enter(self, change: int) -> None:
        with self._lock:
            self._inside += change
            self.most = max(self.most, self._inside)

    def _meet(self) -> int:
        self._enter(1)
        self._threads.wait()
        self._enter(-1)
        return 201

    async def _ameet(self) -> int:
        self._tasks = self._tasks or asyncio.Barrier(self._count)
        self._enter(1)
        async with asyncio.timeout(30):
            await self._tasks.wait()
        self._enter(-1)
        return 201


class Gate:
    """A request that waits until it is let through; `reached` says that it waits."""

    def __init__(self, face: Face, answer: Any = 201) -> None:
        self.reached = threading.Event()
        self._face = face
        self._answer = answer
        self._open = threading.Event()

    def open(self) -> None:
        self._open.set()

    def __call__(self, _: Recorded) -> Any:
        if self._face.is_async:
            return self._await()
        self.reached.set()
        assert self._open.wait(30)
        return self._answer

    async def _await(self) -> Any:
        self.reached.set()
        while not self._open.is_set():
            await asyncio.sleep(0.001)
        return self._answer


def open_all(gates: list[Gate]) -> None:
    for gate in gates:
        gate.open()


def opening(gate: Gate, then: Callable[[Recorded], Any] | int = 201) -> Callable[[Recorded], Any]:
    """A request that is answered after it has opened a gate."""

    def answer(_: Recorded) -> Any:
        gate.open()
        return then

    return answer


class SourceError(Exception):
    pass


def failing_source(count: int, error: BaseException) -> Any:
    yield from lines(count)
    raise error


async def afailing_source(count: int, error: BaseException) -> Any:
    for line in failing_source(count, error):
        yield line
