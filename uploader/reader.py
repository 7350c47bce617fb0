"""What the synchronous client reads back: traces, episodes and runs."""

import os
import threading
from collections.abc import Iterator
from typing import Any, TypeVar, Unpack

import httpx
from pydantic import BaseModel

from uploader import reading
from uploader.arguments import usable_path
from uploader.downloads import RawFile, RawMemory
from uploader.flow import Flow
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
from uploader.pumps import pump
from uploader.reading import Question
from uploader.session import Session

ModelT = TypeVar("ModelT", bound=BaseModel)
ResultT = TypeVar("ResultT")


class Reader(Session):
    """The reading half of TracesClient; it blocks."""

    _http: httpx.Client
    _never: threading.Event

    # Reading back: traces

    def list(self, **filters: Unpack[reading.TraceFilters]) -> TraceListPage:
        """One page of traces, the newest first; see `TraceFilters`."""
        return self._ask(reading.traces(filters))

    def iter(self, **filters: Unpack[reading.TraceFilters]) -> Iterator[TraceSummary]:
        """All matching traces, page after page."""
        return self._items(reading.traces(filters))

    def get(self, trace_id: str) -> TraceSummary:
        """One trace's summary."""
        return self._ask(reading.trace(trace_id))

    def get_raw(self, trace_id: str) -> bytes:
        """One trace's stored bytes, in memory; `download_raw` suits large ones better."""
        return self._raw("traces", trace_id)

    def download_raw(self, trace_id: str, dest: str | os.PathLike[str]) -> int:
        """Write one trace's stored bytes to a file, which appears only when it is whole. Returns its size."""
        return self._download("traces", trace_id, dest)

    def list_nodes(self, trace_id: str, **filters: Unpack[reading.NodeFilters]) -> TraceNodePage:
        """One page of a trace's nodes, in order; see `NodeFilters`.

        Raises:
            TraceNotIndexedError: they cannot be listed yet.
        """
        return self._ask(reading.nodes(trace_id, filters))

    def list_calls(self, trace_id: str, **filters: Unpack[reading.CallFilters]) -> TraceCallPage:
        """One page of a trace's model calls, in order; see `CallFilters`.

        Raises:
            TraceNotIndexedError: they cannot be listed yet.
        """
        return self._ask(reading.calls(trace_id, filters))

    # Reading back: episodes

    def list_episodes(self, **filters: Unpack[reading.EpisodeFilters]) -> EpisodeListPage:
        """One page of episodes, the newest first; see `EpisodeFilters`."""
        return self._ask(reading.episodes(filters))

    def iter_episodes(self, **filters: Unpack[reading.EpisodeFilters]) -> Iterator[EpisodeSummary]:
        """All matching episodes, page after page."""
        return self._items(reading.episodes(filters))

    def get_episode(self, episode_id: str) -> EpisodeDetail:
        """One episode's summary, and the totals over its traces."""
        return self._ask(reading.episode(episode_id))

    def get_episode_raw(self, episode_id: str) -> bytes:
        """One episode's stored bytes, in memory; `download_episode_raw` suits large ones better."""
        return self._raw("episodes", episode_id)

    def download_episode_raw(self, episode_id: str, dest: str | os.PathLike[str]) -> int:
        """Write one episode's stored bytes to a file, which appears only when it is whole. Returns its size."""
        return self._download("episodes", episode_id, dest)

    def list_episode_traces(self, episode_id: str, **filters: Unpack[reading.MemberFilters]) -> TraceListPage:
        """One page of an episode's traces; see `MemberFilters`."""
        return self._ask(reading.episode_traces(episode_id, filters))

    # Reading back: runs

    def list_runs(self, **filters: Unpack[reading.RunFilters]) -> RunListPage:
        """One page of runs, the last to grow first; see `RunFilters`."""
        return self._ask(reading.runs(filters))

    def iter_runs(self, **filters: Unpack[reading.RunFilters]) -> Iterator[RunSummary]:
        """All matching runs, page after page."""
        return self._items(reading.runs(filters))

    def get_run(self, run_id: str) -> RunSummary:
        """One run's totals."""
        return self._ask(reading.run(run_id))

    def list_run_steps(self, run_id: str) -> RunStepList:
        """All training steps of one run, the oldest first."""
        return self._ask(reading.run_steps(run_id))

    def _drive(self, flow: Flow[ResultT]) -> ResultT:
        return pump(flow, self._http, self._never)

    def _ask(self, question: Question[ModelT]) -> ModelT:
        return self._drive(self._ask_flow(question))

    def _items(self, question: Question[Any]) -> Iterator[Any]:
        asked: Question[Page[Any]] | None = question
        while asked is not None:
            page = self._ask(asked)
            yield from page.items
            asked = reading.following(asked, page)

    def _raw(self, kind: str, identifier: str) -> bytes:
        memory = RawMemory()
        self._drive(self._read_flow(reading.raw_request(kind, identifier, self.config), memory))
        return memory.content()

    def _download(self, kind: str, identifier: str, dest: str | os.PathLike[str]) -> int:
        request = reading.raw_request(kind, identifier, self.config)
        with RawFile(usable_path("dest", dest)) as file:
            self._drive(self._read_flow(request, file))
            return file.keep()
