"""The asynchronous client of the traces service."""

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeAlias, Unpack

import httpx

from uploader.arguments import check_transport, usable_path
from uploader.async_reader import AsyncReader
from uploader.async_uploads import AsyncUpload
from uploader.batching import aseal_lines, aseal_records
from uploader.blocking import in_thread
from uploader.flow import Delivery
from uploader.lines import file_lines, refuse_long_lines
from uploader.loop_thread import LoopThread
from uploader.models import UploadReceipt
from uploader.options import RecordHook, UploadArguments, UploadOptions
from uploader.pumps import RetryHook, apump
from uploader.records import Record
from uploader.sealing import SealedBatch
from uploader.session import http_options

# httpcore imports these with the first request, and the event loop would wait for it: 20 to 70 ms.
for _name in ("anyio._backends._asyncio", "anyio.streams.tls"):
    with suppress(ImportError):
        importlib.import_module(_name)

Receipts: TypeAlias = list[UploadReceipt]


class AsyncTracesClient(AsyncReader):
    """Uploads to the traces service and reads back on an event loop; use it as an asynchronous context manager.

    It never encodes, hashes, compresses, touches a file or a socket on the event loop: requests are made on another
    one, in a thread of the client's own, which starts with the first of them. Hooks run on the caller's loop.

    Each setting is the argument if it is given, even empty; else the environment's (PRIME_API_KEY,
    PRIME_TRACES_URL, PRIME_TEAM_ID); else that of `~/.prime/config.json`.

    Args:
        api_key: the bearer token.
        base_url: the service's address; a trailing `/` or `/api/v1` does not matter.
        team_id: the team that uploads are for.
        timeout: seconds for each step of an exchange, or httpx's own object.
        transport: an httpx transport to use instead of the network, always from the client's own thread.

    Raises:
        ConfigurationError: a setting cannot be used. A missing key is raised by the first method that needs it.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        team_id: str | None = None,
        *,
        timeout: float | httpx.Timeout | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(api_key, base_url, team_id)
        check_transport(transport, "handle_async_request")
        self._http = httpx.AsyncClient(**http_options(timeout), transport=transport)
        self._network = LoopThread("uploader-network")
        self._never = asyncio.Event()

    async def aclose(self) -> None:
        """Close the connections; the client cannot be used any more."""
        await self._network.aclose(self._http.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # Uploading

    async def upload_lines(
        self, lines: Iterable[bytes] | AsyncIterable[bytes], **arguments: Unpack[UploadArguments]
    ) -> Receipts:
        """Upload encoded lines, byte for byte; blank ones are skipped.

        An asynchronous source is pulled on the event loop, any other in a thread. The first failure stops new
        requests, those under way end, and what was stored is reported all the same. A cancellation also cancels those
        under way.

        Args:
            lines: one record each. One that lacks its LF gets it when another line follows in the same batch.
            **arguments: see `UploadArguments`.

        Returns:
            The receipts in batch order.

        Raises:
            UploaderError: a line or a batch failed; its `receipts` are those that came all the same.
        """
        options = self._begin(arguments, hooks_may_wait=True)
        return await self._upload(
            aseal_lines(lines, target_batch_bytes=options.target_batch_bytes, compress=options.compress), options
        )

    async def upload_records(
        self,
        records: Iterable[Record] | AsyncIterable[Record],
        *,
        on_record_error: RecordHook | None = None,
        **arguments: Unpack[UploadArguments],
    ) -> Receipts:
        """Upload records: mappings, objects with `iter_json`, `to_json` or `to_record`, or encoded lines.

        A record that cannot be written, or is too long, is set aside; all others are uploaded. Otherwise as
        `upload_lines`.

        Args:
            records: the records.
            on_record_error: called with the error of each record that is set aside, a `RecordError` or a
                `TraceTooLargeError`; never from another thread. Without it the errors are raised at the end.
            **arguments: see `UploadArguments`.

        Raises:
            RecordError: one record could not be written; all others are stored.
            TraceTooLargeError: one record is too long; all others are stored.
            RecordsError: several records were set aside; all others are stored.
            UploaderError: as `upload_lines`.
        """
        options = self._begin(arguments, on_record_error, hooks_may_wait=True)
        upload = self._new_upload(options, on_record_error)
        batches = aseal_records(
            records,
            target_batch_bytes=options.target_batch_bytes,
            compress=options.compress,
            on_error=upload.record_failed,
        )
        return await upload.run(batches)

    async def upload_file(self, path: str | os.PathLike[str], **arguments: Unpack[UploadArguments]) -> Receipts:
        """Upload a file of lines. Doing it again is harmless: the same lines make the same batches.

        Otherwise as `upload_lines`.

        Raises:
            TraceTooLargeError: a line is too long; it is raised before anything is sent.
            OSError: the file cannot be read.
            UploaderError: as `upload_lines`.
        """
        options = self._begin(arguments, hooks_may_wait=True)
        await in_thread(refuse_long_lines, usable_path("path", path))
        lines = file_lines(path)
        return await self._upload(
            aseal_lines(lines, target_batch_bytes=options.target_batch_bytes, compress=options.compress), options
        )

    async def _upload(self, batches: AsyncGenerator[SealedBatch, None], options: UploadOptions) -> Receipts:
        return await self._new_upload(options).run(batches)

    def _new_upload(self, options: UploadOptions, on_record_error: RecordHook | None = None) -> AsyncUpload:
        async def deliver(delivery: Delivery, stop: asyncio.Event, on_retry: RetryHook) -> None:
            await apump(self._upload_flow(delivery, options), self._exchange, stop, on_retry)

        return AsyncUpload(deliver, options, on_record_error)
