"""A request's body as it arrives: read in chunks with a limit on silence, or thrown away."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import ClientDisconnect, Request

from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.settings import MIB

#: A refused body is read and thrown away up to here, so that the producer hears the answer and not a reset.
_MAX_DRAINED_BYTES: Final = 64 * MIB
_DRAIN_TIMEOUT_S: Final = 10.0


class RequestBody:
    """Reads one request's body once.

    Attributes:
        size: the bytes read so far.
    """

    def __init__(self, request: Request, max_bytes: int, silence_timeout_s: float) -> None:
        self._request = request
        self._max_bytes = max_bytes
        self._silence_timeout_s = silence_timeout_s
        self._ended = False
        self.size = 0

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
        self._ended = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        self.size += len(chunk)
        return chunk

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise RequestRefusedError(
                "upload_too_large",
                f"The request body holds more than {self._max_bytes} bytes: divide the upload.",
            )
