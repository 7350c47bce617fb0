"""Services in the same process, as httpx transports for both kinds of client."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final

import httpx

from uploader.testing import receipt

LATENCY_S: Final = 0.1
BYTES_PER_S: Final = 100_000_000

_PATIENCE_S: Final = 60.0


class SimulatedService(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Takes each body whole and answers that it is stored, after some time.

    Args:
        latency_s: how long each request takes at least.
        bytes_per_s: how fast each body comes in; None for at once.
        stalls: whether it never answers, so that clients run into their time-outs.
        is_down: whether connections are refused, asked with each request.

    Attributes:
        requests: how many were answered.
        body_bytes: the bytes of their bodies.
    """

    def __init__(
        self,
        latency_s: float = 0.0,
        bytes_per_s: float | None = None,
        *,
        stalls: bool = False,
        is_down: Callable[[], bool] = lambda: False,
    ) -> None:
        self._latency_s = latency_s
        self._bytes_per_s = bytes_per_s
        self._stalls = stalls
        self._is_down = is_down
        self._lock = threading.Lock()
        self.requests = 0
        self.body_bytes = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a synchronous client."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        size = sum(map(len, request.stream))
        time.sleep(self._delay_s(request, size))
        return self._answer(request, size)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer an asynchronous client."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        size = 0
        async for piece in request.stream:
            size += len(piece)
        await asyncio.sleep(self._delay_s(request, size))
        return self._answer(request, size)

    def _delay_s(self, request: httpx.Request, size: int) -> float:
        if self._is_down():
            raise httpx.ConnectError("it is down", request=request)
        if self._stalls:
            return float(request.extensions.get("timeout", {}).get("read") or _PATIENCE_S)
        return self._latency_s + (size / self._bytes_per_s if self._bytes_per_s else 0.0)

    def _answer(self, request: httpx.Request, size: int) -> httpx.Response:
        if self._stalls:
            raise httpx.ReadTimeout("no answer", request=request)
        with self._lock:
            self.requests += 1
            self.body_bytes += size
        return receipt(request.headers["idempotency-key"].removeprefix("sha256:"))
