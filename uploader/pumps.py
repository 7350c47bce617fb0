"""The two shells that do what a flow asks: one on threads, one on an event loop. They decide nothing.

Every exchange is streamed both ways: a body goes out in its pieces, and no more of an answer is read than the request
allows. What the HTTP library raises becomes a TransportError here, at the seam.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Final, TypeVar

import httpx

from uploader.blocking import in_thread
from uploader.clock import get_clock
from uploader.dividing import divide
from uploader.errors import APITimeoutError, TransportError, clear_frames
from uploader.exchange import ERROR_BODY_BYTES, RawTarget, Request, RequestBody, Response
from uploader.flow import Divide, Flow, Reply, Send
from uploader.retry import Sleep

logger = logging.getLogger("uploader")

ResultT = TypeVar("ResultT")
RetryHook = Callable[[Sleep], None]
AsyncExchange = Callable[[Request, RawTarget | None], Awaitable[Response | TransportError]]
"""Does one exchange, wherever the sockets are."""

_WRITE_BYTES = 1024 * 1024
"""How much of a download is gathered for one trip to a thread."""


class StoppedError(Exception):
    """The upload was stopped before this flow's next request. It is never shown to callers."""


def pump(
    flow: Flow[ResultT], client: httpx.Client, stop: threading.Event, on_retry: RetryHook | None = None
) -> ResultT:
    """Drive a flow to its end, blocking.

    Raises:
        StoppedError: `stop` was set, and the flow wanted another request. The first is always made: what was started
            before the stop counts as under way.
        APIError: the flow's own.
    """
    reply: Reply = None
    begun = False
    while True:
        try:
            step = flow.send(reply)
        except StopIteration as ended:
            result: ResultT = ended.value
            return result
        match step:
            case Send():
                if begun and stop.is_set():
                    raise StoppedError
                begun = True
                reply = _send(client, step.request, step.target)
            case Sleep():
                _announce(step, on_retry)
                get_clock().sleep(step.delay_s, stop)
                reply = None
            case Divide():
                reply = divide(step.sealed)


async def apump(
    flow: Flow[ResultT], exchange: AsyncExchange, stop: asyncio.Event, on_retry: RetryHook | None = None
) -> ResultT:
    """Drive a flow to its end on the event loop; exchanges and the work of dividing are done elsewhere.

    Raises:
        StoppedError: `stop` was set, and the flow wanted another request. The first is always made: what was started
            before the stop counts as under way.
        APIError: the flow's own.
    """
    reply: Reply = None
    begun = False
    while True:
        try:
            step = flow.send(reply)
        except StopIteration as ended:
            result: ResultT = ended.value
            return result
        match step:
            case Send():
                if begun and stop.is_set():
                    raise StoppedError
                begun = True
                reply = await exchange(step.request, step.target)
            case Sleep():
                _announce(step, on_retry)
                await get_clock().asleep(step.delay_s, stop)
                reply = None
            case Divide():
                reply = await in_thread(divide, step.sealed)


def _announce(sleep: Sleep, on_retry: RetryHook | None) -> None:
    logger.info("attempt %d failed, next in %.1f s: %s", sleep.attempt, sleep.delay_s, sleep.error)
    if on_retry is not None:
        on_retry(sleep)


def _send(client: httpx.Client, request: Request, target: RawTarget | None) -> Response | TransportError:
    content = None if request.body is None else request.body.pieces()
    try:
        with _answered(client, request, content) as answer:
            if target is not None and answer.is_success:
                target.restart()
                for chunk in answer.iter_bytes():
                    target.write(chunk)
                return _response(answer, [])
            body = _Body(answer, request)
            for chunk in answer.iter_bytes():
                if not body.takes(chunk):
                    break
            return _response(answer, body.chunks)
    except httpx.RequestError as exc:
        return _transport_error(exc, request)


async def exchange(client: httpx.AsyncClient, request: Request, target: RawTarget | None) -> Response | TransportError:
    """One exchange on the running event loop. That there was no answer is a value, for the flow to judge."""
    content = None if request.body is None else _pieces(request.body)
    try:
        async with _aanswered(client, request, content) as answer:
            if target is not None and answer.is_success:
                await _fill(target, answer)
                return _response(answer, [])
            body = _Body(answer, request)
            async for chunk in answer.aiter_bytes():
                if not body.takes(chunk):
                    break
            return _response(answer, body.chunks)
    except httpx.RequestError as exc:
        return _transport_error(exc, request)


# An answer and its stream hold each other. In a process that freezes its heap, as one with an event loop had better do,
# such things stay for good: some KB for each request. So they are parted when the answer has been read.
_READ: Final = httpx.ByteStream(b"")


@contextmanager
def _answered(client: httpx.Client, request: Request, content: Iterable[bytes] | None) -> Iterator[httpx.Response]:
    with client.stream(request.method, _url(request), headers=request.headers, content=content) as answer:
        yield answer
    answer.stream = _READ


@asynccontextmanager
async def _aanswered(
    client: httpx.AsyncClient, request: Request, content: AsyncIterable[bytes] | None
) -> AsyncIterator[httpx.Response]:
    async with client.stream(request.method, _url(request), headers=request.headers, content=content) as answer:
        yield answer
    answer.stream = _READ


async def _fill(target: RawTarget, answer: httpx.Response) -> None:
    """Write an answer's body to a target, to one that blocks from a thread and many chunks at a time."""
    if not target.blocks:
        target.restart()
        async for chunk in answer.aiter_bytes():
            target.write(chunk)
        return
    await in_thread(target.restart)
    chunks: list[bytes] = []
    size = 0
    async for chunk in answer.aiter_bytes():
        chunks.append(chunk)
        size += len(chunk)
        if size >= _WRITE_BYTES:
            await in_thread(_write_all, target, chunks)
            chunks, size = [], 0
    await in_thread(_write_all, target, chunks)


def _write_all(target: RawTarget, chunks: list[bytes]) -> None:
    for chunk in chunks:
        target.write(chunk)


class _Body:
    """An answer's body, no more of it than is wanted, in the chunks it came in."""

    def __init__(self, answer: httpx.Response, request: Request) -> None:
        self.chunks: list[bytes] = []
        self._missing = request.max_answer_bytes if answer.is_success else ERROR_BODY_BYTES

    def takes(self, chunk: bytes) -> bool:
        """Keep a chunk; whether more are wanted."""
        self.chunks.append(chunk[: self._missing])
        self._missing -= len(self.chunks[-1])
        return self._missing > 0


async def _pieces(body: RequestBody) -> AsyncIterator[bytes]:
    for piece in body.pieces():
        yield piece


def _url(request: Request) -> httpx.URL:
    url = httpx.URL(request.url)
    return url.copy_merge_params(request.params) if request.params else url


def _response(answer: httpx.Response, chunks: list[bytes]) -> Response:
    headers: Mapping[str, str] = {name.lower(): value for name, value in answer.headers.items()}
    return Response(answer.status_code, headers, b"".join(chunks), get_clock().now())


def _transport_error(exc: httpx.RequestError, request: Request) -> TransportError:
    """The error as a value, for the flow to judge."""
    url = httpx.URL(request.url)
    place = f"{url.scheme}://{url.netloc.decode('ascii')}"
    reason = str(exc) or type(exc).__name__
    if isinstance(exc, httpx.TimeoutException):
        error: TransportError = APITimeoutError(f"no answer in time from {place}: {type(exc).__name__}")
    else:
        error = TransportError(f"no answer from {place}: {reason}")
    exc.request = httpx.Request(request.method, url)  # theirs holds the key and the body
    clear_frames(exc)
    error.__cause__ = exc
    return error
