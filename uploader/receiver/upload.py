"""POST /api/v1/traces: the body goes to disk as it arrives, then a worker thread settles it.

The event loop only moves chunks. It never inflates, hashes or reads JSON, and writes to disk from a thread.
"""

import asyncio
import logging
import sqlite3
from typing import BinaryIO, Final

import anyio
from starlette.datastructures import Headers
from starlette.requests import Request

from uploader.receiver.admission import Admission
from uploader.receiver.answers import Answer
from uploader.receiver.auth import check_bearer
from uploader.receiver.body import RequestBody
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.metadata import parse_idempotency_key, parse_line_format, parse_metadata
from uploader.receiver.multipart_stream import UploadParts
from uploader.receiver.settings import MIB, ReceiverSettings
from uploader.receiver.store import Store
from uploader.receiver.verdict import Upload, settle

_log: Final = logging.getLogger(__name__)
#: How much of a body gathers in memory before it is written.
_WRITE_BYTES: Final = 512 * 1024
#: What the form adds to the traces part, at most: boundaries, headers, metadata; and what gzip adds to
#: random bytes.
_FORM_BYTES: Final = MIB


class UploadHandler:
    """Serves the uploads of one receiver.

    Attributes:
        admission: the uploads in flight.
    """

    def __init__(self, settings: ReceiverSettings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._workers = anyio.CapacityLimiter(settings.workers)
        self.admission = Admission(settings.max_requests_in_flight, settings.retry_after_s)

    def body_of(self, request: Request) -> RequestBody:
        """The body of a request, no more of it than an upload may have."""
        return RequestBody(request, self._settings.max_request_bytes + _FORM_BYTES, self._settings.body_timeout_s)

    async def receive(self, headers: Headers, body: RequestBody) -> Answer:
        """Take one upload.

        Args:
            headers: the request's.
            body: from `body_of`.

        Returns:
            The receipt; every line is durably stored.

        Raises:
            RequestRefusedError: with the contract's code; nothing was stored.
        """
        try:
            check_bearer(headers.get("authorization"), self._settings.api_key)
            with self.admission.slot():
                return await self._receive(headers, body)
        except RequestRefusedError as error:
            _log.info("refused an upload: %s", error)
            raise
        except (OSError, sqlite3.Error) as error:
            _log.exception("an upload could not be stored")
            raise RequestRefusedError(
                "storage_unavailable",
                f"The upload could not be stored ({type(error).__name__}): look at the log and the disk.",
                self._settings.retry_after_s,
            ) from error

    async def _receive(self, headers: Headers, body: RequestBody) -> Answer:
        digest = parse_idempotency_key(headers.get("idempotency-key"))
        line_format = parse_line_format(headers.get("x-prime-line-format"))
        parts = UploadParts(headers.get("content-type", ""), self._settings.max_metadata_bytes)
        with self._store.incoming_file() as file:
            await _spool(body, parts, file)
            upload = Upload(
                digest=digest,
                line_format=line_format,
                metadata=parse_metadata(parts.metadata),
                is_gzip=parts.content_encoding == "gzip",
            )
            if self._settings.hold_upload_s:
                await asyncio.sleep(self._settings.hold_upload_s)
            file.seek(0)
            await anyio.to_thread.run_sync(settle, upload, file, self._store, self._settings, limiter=self._workers)
        return {"upload_id": digest, "status": "committed"}


async def _spool(body: RequestBody, parts: UploadParts, file: BinaryIO) -> None:
    """Write the traces part to a file while the body arrives."""
    buffer = bytearray()
    async for chunk in body.chunks():
        for data in parts.feed(chunk):
            buffer += data
        if len(buffer) >= _WRITE_BYTES:
            await anyio.to_thread.run_sync(file.write, bytes(buffer))
            buffer.clear()
    parts.finish()
    await anyio.to_thread.run_sync(file.write, bytes(buffer))
