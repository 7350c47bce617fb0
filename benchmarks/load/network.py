"""What lies between the uploader and the receiver: a proxy in the parent's process."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from benchmarks.services import BYTES_PER_S, LATENCY_S
from tests.faults.proxy import Connection, Fault, FaultProxy, Pipe

PERIOD_S: Final = 4.0
STILL_S: Final = 2.0
"""A stalled network stands still for so long at the end of each period."""

_CHUNK: Final = 65536
_ONE_ANSWER_S: Final = 0.05
"""What comes back within so much of time is one answer."""


@contextmanager
def network(name: str, url: str) -> Iterator[str]:
    """The address at which the receiver is reached over one of the networks."""
    if name == "none":
        yield url
        return
    with FaultProxy(url, otherwise=shaped() if name == "shaped" else stalled()) as proxy:
        yield proxy.url


def shaped(latency_s: float = LATENCY_S, bytes_per_s: float = BYTES_PER_S) -> Fault:
    """A connection on which each answer takes some time, and bodies move so fast: each request has one for itself."""

    def relay(connection: Connection) -> None:
        connection.relay((paced(bytes_per_s), delayed(latency_s)))

    return relay


def paced(bytes_per_s: float) -> Pipe:
    """Moves so many bytes a second."""

    def pipe(source: socket.socket, target: socket.socket) -> None:
        due_s = 0.0

        def wait(size: int) -> None:
            nonlocal due_s
            now_s = time.monotonic()
            due_s = max(due_s, now_s) + size / bytes_per_s
            time.sleep(due_s - now_s)

        move(source, target, wait)

    return pipe


def delayed(latency_s: float) -> Pipe:
    """Moves each answer so much later."""

    def pipe(source: socket.socket, target: socket.socket) -> None:
        moved_s = 0.0

        def wait(size: int) -> None:
            nonlocal moved_s
            if time.monotonic() - moved_s > _ONE_ANSWER_S:
                time.sleep(latency_s)
            moved_s = time.monotonic()

        move(source, target, wait)

    return pipe


def stalled(clock: Callable[[], float] = time.monotonic) -> Fault:
    """Connections that all stand still at the same times."""
    start_s = clock()

    def pipe(source: socket.socket, target: socket.socket) -> None:
        move(source, target, lambda size: time.sleep(still_for_s(clock() - start_s)))

    return lambda connection: connection.relay((pipe, pipe))


def still_for_s(elapsed_s: float) -> float:
    """For how long nothing moves from a moment on."""
    at_s = elapsed_s % PERIOD_S
    return PERIOD_S - at_s if at_s >= PERIOD_S - STILL_S else 0.0


def move(source: socket.socket, target: socket.socket, wait: Callable[[int], object]) -> None:
    """Move bytes from one socket to another until the first one ends, waiting before each piece."""
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            wait(len(data))
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
