"""Blocking work with a limit of time: in a daemon thread, which nobody waits for longer, nor the interpreter's exit."""

import asyncio
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

import httpx

T = TypeVar("T")

# How much longer than its limit a call may take to notice that it is to stop.
_NOTICE_S = 0.02


class _Call(Generic[T]):
    def __init__(self, function: Callable[[threading.Event], T]) -> None:
        self.stop = threading.Event()
        self.ended = threading.Event()
        self.result: T
        self.error: BaseException | None = None
        self._function = function

    def run(self) -> None:
        try:
            self.result = self._function(self.stop)
        except BaseException as error:  # noqa: BLE001 - it is raised where the call was made
            self.error = error
        finally:
            self.ended.set()


class _Standby:
    """A daemon thread that waits for work: at the interpreter's exit Python 3.12 starts no others."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin without a thread, as in a process that was just forked."""
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._is_ready = False

    def ready(self) -> None:
        """Start the thread, unless it waits already."""
        if not self._is_ready:
            self._is_ready = True
            threading.Thread(target=self._work, args=(self._jobs,), name="uploader-standby", daemon=True).start()

    def run(self, job: Callable[[], None]) -> None:
        """Have something done there; here, if there is no such thread."""
        if self._is_ready:
            self._jobs.put(job)
        else:
            job()

    def _work(self, jobs: "SimpleQueue[Callable[[], None]]") -> None:
        while True:
            jobs.get()()


_standby = _Standby()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_standby.forget)


def be_ready_for_exit() -> None:
    """Have calls with a limit of time work at the interpreter's exit, too."""
    _standby.ready()


def _start(job: Callable[[], None], name: str) -> None:
    try:
        threading.Thread(target=job, name=name, daemon=True).start()
    except RuntimeError:  # no thread can be started: the interpreter exits
        _standby.run(job)


def within(timeout_s: float | None, function: Callable[[threading.Event], T], name: str) -> T:
    """Call a function in a thread of its own, and wait so long for it.

    Args:
        timeout_s: how long; None for as long as it takes.
        function: what to call; it is given an event that is set when nobody waits any more.
        name: the thread's name.

    Raises:
        TimeoutError: it did not end in time. It may still.
        BaseException: what the function raises.
    """
    call = _Call(function)
    _start(call.run, name)
    try:
        ended = call.ended.wait(timeout_s)
    finally:
        call.stop.set()
    if not ended and not call.ended.wait(_NOTICE_S):
        raise TimeoutError(f"not done within {timeout_s:g} s")
    if call.error is not None:
        raise call.error
    return call.result


async def in_daemon(
    function: Callable[[threading.Event], T], name: str, on_cancel: Callable[[], object] | None = None
) -> T:
    """Call a function in a daemon thread of its own, for an event loop.

    A thread cannot be cancelled. When the caller is, the function is told so by the event that it is given; its end is
    waited for, and then the cancellation goes on. A second one leaves at once.

    Args:
        function: what to call.
        name: the thread's name.
        on_cancel: called when the caller is cancelled.

    Raises:
        BaseException: what the function raises.
    """
    call = _Call(function)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        call.run()
        if not loop.is_closed():
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=run, name=name, daemon=True).start()
    cancelled: asyncio.CancelledError | None = None
    while not ended.is_set():
        try:
            await ended.wait()
        except asyncio.CancelledError as error:
            if cancelled is not None:  # a second one leaves at once
                raise
            cancelled = error
            call.stop.set()
            if on_cancel is not None:
                on_cancel()
    if cancelled is not None:
        raise cancelled
    if call.error is not None:
        raise call.error
    return call.result


class BlockingTransport(httpx.BaseTransport):
    """An asynchronous transport for a synchronous client, on one thread at a time.

    Args:
        transport: what answers; it is not closed with this.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request, whole."""
        content = request.read()

        async def exchange() -> httpx.Response:
            asked = httpx.Request(
                request.method, request.url, headers=request.headers, content=content, extensions=request.extensions
            )
            answer = await self._transport.handle_async_request(asked)
            raw = b"".join([chunk async for chunk in answer.stream])  # type: ignore[union-attr]
            await answer.aclose()
            return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(raw))

        return asyncio.run(exchange())


def blocking_transport(transport: httpx.AsyncBaseTransport | None) -> httpx.BaseTransport | None:
    """The same transport for a synchronous client."""
    if transport is None or isinstance(transport, httpx.BaseTransport):
        return transport
    return BlockingTransport(transport)
