"""Doubles for tests of code that uploads: time that passes at once, and a service that follows a script.

with fake_time() as clock:
    client = TracesClient("key", transport=ScriptedTransport([503, 201]))
    client.upload_lines([b"{}"])
assert clock.sleeps == [1.0]
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from uploader.clock import Clock, set_clock


class FakeClock(Clock):
    """Time that stands still until somebody sleeps, which takes none.

    Attributes:
        sleeps: how long each sleep would have been, in seconds.
        fraction: what `jitter` gives; 0.5 makes the back-off exactly 1, 2, 4, 8 s.
    """

    def __init__(self, start: datetime | None = None, fraction: float = 0.5) -> None:
        self.sleeps: list[float] = []
        self.fraction = fraction
        self._now = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed_s = 0.0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The start, and all sleeps since."""
        return self._now

    def monotonic(self) -> float:
        """The seconds of all sleeps."""
        return self._elapsed_s

    def jitter(self) -> float:
        """Always `fraction`."""
        return self.fraction

    def sleep(self, delay_s: float, stop: threading.Event) -> None:
        """Note the sleep and go on."""
        with self._lock:
            self.sleeps.append(delay_s)
            self._elapsed_s += delay_s
            self._now += timedelta(seconds=delay_s)

    async def asleep(self, delay_s: float, stop: asyncio.Event) -> None:
        """Note the sleep, let other tasks run once, and go on."""
        self.sleep(delay_s, threading.Event())
        await asyncio.sleep(0)


@contextmanager
def fake_time(clock: FakeClock | None = None) -> Iterator[FakeClock]:
    """Let every client in this process use a fake clock inside the `with` block."""
    clock = clock or FakeClock()
    set_clock(clock)
    try:
        yield clock
    finally:
        set_clock(None)


@dataclass(frozen=True)
class Recorded:
    """A request that a scripted transport got.

    Attributes:
        method: GET or POST.
        url: with its query.
        headers: all of them.
        body: all of it.
    """

    method: str
    url: httpx.URL
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """The digest in its Idempotency-Key."""
        key: str = self.headers.get("idempotency-key", "")
        return key.removeprefix("sha256:")


Answer = int | Exception | httpx.Response | Callable[[Recorded], Any]
"""A status, an error to raise, a whole response, or a function of the request that gives (or awaits) one of them."""


class ScriptedTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers requests by a script, one entry each; after its end every upload is stored.

    A 200 or 201 of the script answers an upload with its receipt; any other status comes with an empty body.

    Attributes:
        requests: what it got, in order.
    """

    def __init__(self, script: Iterable[Answer] = ()) -> None:
        self.requests: list[Recorded] = []
        self._script = iter(script)
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a synchronous client."""
        recorded = Recorded(request.method, request.url, request.headers, request.read())
        answer = self._next(recorded)
        while callable(answer):
            answer = answer(recorded)
        return _response(answer, recorded)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer an asynchronous client."""
        recorded = Recorded(request.method, request.url, request.headers, await request.aread())
        answer = self._next(recorded)
        while callable(answer) or asyncio.iscoroutine(answer):
            answer = await answer if asyncio.iscoroutine(answer) else answer(recorded)
        return _response(answer, recorded)

    def _next(self, recorded: Recorded) -> Any:
        with self._lock:
            self.requests.append(recorded)
            return next(self._script, 201)


def receipt(digest: str, status: str = "committed") -> httpx.Response:
    """The answer to an upload that was stored."""
    return json_response(201, {"upload_id": digest, "status": status})


def refusal(status: int, code: str, message: str = "", headers: Mapping[str, str] | None = None) -> httpx.Response:
    """A refusal in the service's own form."""
    return json_response(status, {"error": {"code": code, "message": message or code}}, headers)


def json_response(status: int, body: Any, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """An answer with a JSON body."""
    return httpx.Response(
        status,
        headers={"content-type": "application/json", **(headers or {})},
        content=json.dumps(body).encode(),
    )


def _response(answer: Any, recorded: Recorded) -> httpx.Response:
    if isinstance(answer, BaseException):
        raise answer
    if isinstance(answer, httpx.Response):
        return _fresh(answer)
    if answer in (200, 201) and recorded.digest:
        return receipt(recorded.digest)
    return httpx.Response(answer)


def _fresh(answer: httpx.Response) -> httpx.Response:
    """The same answer unread, so that one can stand in several scripts; a stream can only be used once."""
    try:
        content = answer.content
    except httpx.ResponseNotRead:
        return answer
    headers = [(name, value) for name, value in answer.headers.multi_items() if name != "content-encoding"]
    return httpx.Response(answer.status_code, headers=headers, content=content)
