"""What the asynchronous client reads back: traces, episodes and runs."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any, TypeVar, Unpack

import httpx
from pydantic import BaseModel

from uploader import reading
from uploader.arguments import usable_path
from uploader.blocking import in_thread
from uploader.downloads import RawFile, RawMemory
from uploader.errors import TransportError
from uploader.exchange import RawTarget, Request, Response
from uploader.flow import Flow
from uploader.loop_thread import LoopThread
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
)
from uploader.pumps import apump, exchange
from uploader.reading import Question
from uploader.session import Session

ModelT = TypeVar("ModelT", bound=BaseModel)
ResultT = TypeVar("ResultT")


class AsyncReader(Session):
    """The reading half of AsyncTracesClient; nothing of it blocks the event loop."""

    _http: httpx.AsyncClient
    _network: LoopThread
    _never: asyncio.Event

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
        return await apump(flow, self._exchange, self._never)

    async def _exchange(self, request: Request, target: RawTarget | None) -> Response | TransportError:
        return await self._network.call(exchange, self._http, request, target)

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
