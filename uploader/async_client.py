"""The asynchronous client of the traces service."""

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar, Unpack

import httpx
from pydantic import BaseModel

from uploader import reading
from uploader.arguments import check_transport, usable_path
from uploader.async_uploads import AsyncUpload
from uploader.batching import aseal_lines, aseal_records
from uploader.blocking import in_thread
from uploader.downloads import RawFile, RawMemory
from uploader.flow import Delivery, Flow
from uploader.lines import file_lines, refuse_long_lines
from uploader.models import (
    EpisodeDetail,
    EpisodeListPage,
    EpisodeSummary,
    Page,
    RunListPage,
    RunStepList,
    RunSummary,
    TraceCallPage,
    TraceListPage,
    TraceNodePage,
    TraceSummary,
    UploadReceipt,
)
from uploader.options import RecordHook, UploadArguments, UploadOptions
from uploader.pumps import RetryHook, apump
from uploader.reading import Question
from uploader.records import Record
from uploader.sealing import SealedBatch
from uploader.session import Session, http_options

# httpcore imports these with the first request, and the event loop would wait for it: 20 to 70 ms.
for _name in ("anyio._backends._asyncio", "anyio.streams.tls"):
    with suppress(ImportError):
        importlib.import_module(_name)

ModelT = TypeVar("ModelT", bound=BaseModel)
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
Receipts: TypeAlias = list[UploadReceipt]
"""The class below has a method named `list`."""


class AsyncTracesClient(Session):
    """Uploads to the traces service and reads back on an event loop; use it as an asynchronous context manager.

    It never encodes, hashes, compresses or touches a file on the event loop.

    Each setting is the argument if it is given, even empty; else the environment's (PRIME_API_KEY,
    PRIME_TRACES_URL, PRIME_TEAM_ID); else that of `~/.prime/config.json`.

    Args:
        api_key: the bearer token.
        base_url: the service's address; a trailing `/` or `/api/v1` does not matter.
        team_id: the team that uploads are for.
        timeout: seconds for each step of an exchange, or httpx's own object.
        transport: an httpx transport to use instead of the network.

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
        self._never = asyncio.Event()

    async def aclose(self) -> None:
        """Close the connections; the client cannot be used any more."""
        await self._http.aclose()

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
            await apump(self._upload_flow(delivery, options), self._http, stop, on_retry)

        return AsyncUpload(deliver, options, on_record_error)

    # Reading back: traces

    async def list(self, **filters: Unpack[reading.TraceFilters]) -> TraceListPage:
        """One page of traces, the newest first; see `TraceFilters`."""
        return await self._ask(reading.traces(filters))

    def iter(self, **filters: Unpack[reading.TraceFilters]) -> AsyncIterator[TraceSummary]:
        """All matching traces, page after page."""
        return self._items(reading.traces(filters))

    async def get(self, trace_id: str) -> TraceSummary:
        """One trace's summary."""
        return await self._ask(reading.trace(trace_id))

    async def get_raw(self, trace_id: str) -> bytes:
        """One trace's stored bytes, in memory; `download_raw` suits large ones better."""
        return await self._raw("traces", trace_id)

    async def download_raw(self, trace_id: str, dest: str | os.PathLike[str]) -> int:
        """Write one trace's stored bytes to a file, which appears only when it is whole. Returns its size."""
        return await self._download("traces", trace_id, dest)

    async def list_nodes(self, trace_id: str, **filters: Unpack[reading.NodeFilters]) -> TraceNodePage:
        """One page of a trace's nodes, in order; see `NodeFilters`.

        Raises:
            TraceNotIndexedError: they cannot be listed yet.
        """
        return await self._ask(reading.nodes(trace_id, filters))

    async def list_calls(self, trace_id: str, **filters: Unpack[reading.CallFilters]) -> TraceCallPage:
        """One page of a trace's model calls, in order; see `CallFilters`.

        Raises:
            TraceNotIndexedError: they cannot be listed yet.
        """
        return await self._ask(reading.calls(trace_id, filters))

    # Reading back: episodes

    async def list_episodes(self, **filters: Unpack[reading.EpisodeFilters]) -> EpisodeListPage:
        """One page of episodes, the newest first; see `EpisodeFilters`."""
        return await self._ask(reading.episodes(filters))

    def iter_episodes(self, **filters: Unpack[reading.EpisodeFilters]) -> AsyncIterator[EpisodeSummary]:
        """All matching episodes, page after page."""
        return self._items(reading.episodes(filters))

    async def get_episode(self, episode_id: str) -> EpisodeDetail:
        """One episode's summary, and the totals over its traces."""
        return await self._ask(reading.episode(episode_id))

    async def get_episode_raw(self, episode_id: str) -> bytes:
        """One episode's stored bytes, in memory; `download_episode_raw` suits large ones better."""
        return await self._raw("episodes", episode_id)

    async def download_episode_raw(self, episode_id: str, dest: str | os.PathLike[str]) -> int:
        """Write one episode's stored bytes to a file, which appears only when it is whole. Returns its size."""
        return await self._download("episodes", episode_id, dest)

    async def list_episode_traces(self, episode_id: str, **filters: Unpack[reading.MemberFilters]) -> TraceListPage:
        """One page of an episode's traces; see `MemberFilters`."""
        return await self._ask(reading.episode_traces(episode_id, filters))

    # Reading back: runs

    async def list_runs(self, **filters: Unpack[reading.RunFilters]) -> RunListPage:
        """One page of runs, the last to grow first; see `RunFilters`."""
        return await self._ask(reading.runs(filters))

    def iter_runs(self, **filters: Unpack[reading.RunFilters]) -> AsyncIterator[RunSummary]:
        """All matching runs, page after page."""
        return self._items(reading.runs(filters))

    async def get_run(self, run_id: str) -> RunSummary:
        """One run's totals."""
        return await self._ask(reading.run(run_id))

    async def list_run_steps(self, run_id: str) -> RunStepList:
        """All training steps of one run, the oldest first."""
        return await self._ask(reading.run_steps(run_id))

    async def _drive(self, flow: Flow[ResultT]) -> ResultT:
        return await apump(flow, self._http, self._never)

    async def _ask(self, question: Question[ModelT]) -> ModelT:
        return await self._drive(self._ask_flow(question))

    async def _items(self, question: Question[Any]) -> AsyncIterator[Any]:
        asked: Question[Page[Any]] | None = question
        while asked is not None:
            page = await self._ask(asked)
            for item in page.items:
                yield item
            asked = reading.following(asked, page)

    async def _raw(self, kind: str, identifier: str) -> bytes:
        memory = RawMemory()
        await self._drive(self._read_flow(reading.raw_request(kind, identifier, self.config), memory))
        return await in_thread(memory.content)

    async def _download(self, kind: str, identifier: str, dest: str | os.PathLike[str]) -> int:
        request = reading.raw_request(kind, identifier, self.config)
        file = RawFile(usable_path("dest", dest))
        try:
            await self._drive(self._read_flow(request, file))
            return await in_thread(file.keep)
        finally:
            await in_thread(file.discard)
