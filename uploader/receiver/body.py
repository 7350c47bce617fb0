"""A request's body as it arrives: read in chunks with a limit on silence, or thrown away after the refusal is sent."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.settings import MIB

#: After a refusal as much of a body is thrown away, so that a producer that reads no answer before it has sent
#: everything hears it, and not a reset.
_MAX_DRAINED_BYTES: Final = 64 * MIB
_DRAIN_TIMEOUT_S: Final = 10.0


class RequestBody:
    """Reads one request's body once.

    Attributes:
        size: the bytes read so far.
        is_whole: whether it was read to its end.
    """

    def __init__(self, request: Request, max_bytes: int, silence_timeout_s: float) -> None:
        self._request = request
        self._max_bytes = max_bytes
        self._silence_timeout_s = silence_timeout_s
        self._ended = False
        self.size = 0
        self.is_whole = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The chunks, none of them empty.

        Raises:
            RequestRefusedError: `upload_too_large` as soon as that is known; `request_timeout` when the
                producer falls silent.
            ClientDisconnect: the producer is gone.
        """
        announced = self._request.headers.get("content-length", "")
        self._check_size(int(announced) if announced.isdecimal() else 0)
        while not self._ended:
            try:
                async with asyncio.timeout(self._silence_timeout_s):
                    chunk = await self._next()
            except TimeoutError:
                self._ended = True
                message = f"The body made no progress for {self._silence_timeout_s:g} s: send it again."
                raise RequestRefusedError("request_timeout", message) from None
            self._check_size(self.size)
            if chunk:
                yield chunk

    async def drain(self) -> None:
        """Read the rest and forget it, within limits; a body that never was invited is not read."""
        if not self.size and self._request.headers.get("expect", "").lower() == "100-continue":
            return
        try:
            async with asyncio.timeout(_DRAIN_TIMEOUT_S):
                while not self._ended and self.size < _MAX_DRAINED_BYTES:
                    await self._next()
        except (TimeoutError, ClientDisconnect):
            return

    async def _next(self) -> bytes:
        message = await self._request.receive()
        if message["type"] == "http.disconnect":
            self._ended = True
            raise ClientDisconnect
        self._ended = self.is_whole = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        self.size += len(chunk)
        return chunk

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise RequestRefusedError(
                "upload_too_large",
                f"The request body holds more than {self._max_bytes} bytes: divide the upload.",
            )


class RefusedUpload:
    """A response that is sent at once; then the rest of the body is thrown away, and the connection closed.

    Closing it earlier would reset it, and a reset can overtake the answer.
    """

    def __init__(self, refusal: Response, body: RequestBody) -> None:
        self._refusal = refusal
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, in ASGI's way."""
        headers = [*self._refusal.raw_headers, (b"connection", b"close")]
        await send({"type": "http.response.start", "status": self._refusal.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": self._refusal.body, "more_body": True})
        await self._body.drain()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
