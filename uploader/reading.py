"""What can be read back: for each question the path, the query and the model of the answer.

A TypedDict lists the filters of each list, once for both clients; they travel under their own names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar

from pydantic import BaseModel

from uploader.addresses import MAX_SEGMENT_CHARS, query, segment
from uploader.config import Config
from uploader.errors import InvalidAnswerError
from uploader.exchange import Request
from uploader.models import (
    EpisodeDetail,
    EpisodeListPage,
    Page,
    RunListPage,
    RunStepList,
    RunSummary,
    TraceCallPage,
    TraceListPage,
    TraceNodePage,
    TraceSummary,
)

ModelT = TypeVar("ModelT", bound=BaseModel)
PageT = TypeVar("PageT", bound=Page[Any])
OneOrMore = str | Sequence[str]
Moment = str | datetime


class PageArguments(TypedDict, total=False):
    """Which page: at most `limit` items (100), from an earlier page's `next_cursor` on."""

    limit: int | None
    cursor: str | None


class MemberFilters(PageArguments, total=False):
    """Filters for the traces of one episode.

    Times are RFC 3339 texts or aware datetimes; a context filter is an equality.
    """

    run_id: str | None
    environment_id: str | None
    model_id: str | None
    model_provider: str | None
    task_id: str | None
    reward_min: float | None
    reward_max: float | None
    outcome: str | None
    has_error: bool | None
    is_truncated: bool | None
    created_after: Moment | None
    created_before: Moment | None
    context: Mapping[str, str] | None


class TraceFilters(MemberFilters, total=False):
    """Filters for traces. `upload_id` is that of a receipt, or those of several."""

    upload_id: OneOrMore | None
    sort: str | None


class EpisodeFilters(PageArguments, total=False):
    """Filters for episodes. Those on steps and context match when one of the episode's traces does."""

    run_id: str | None
    upload_id: OneOrMore | None
    environment_id: str | None
    outcome: str | None
    has_error: bool | None
    run_step: int | None
    step_min: int | None
    step_max: int | None
    created_after: Moment | None
    created_before: Moment | None
    context: Mapping[str, str] | None


class RunFilters(PageArguments, total=False):
    """Filters for runs. The times choose the traces that are counted."""

    run_type: OneOrMore | None
    created_by: OneOrMore | None
    created_after: Moment | None
    created_before: Moment | None


class NodeFilters(PageArguments, total=False):
    """Filters for a trace's nodes. `after` is a node's index; it does not go with a cursor."""

    role: OneOrMore | None
    sampled: bool | None
    after: int | None


class CallFilters(PageArguments, total=False):
    """Filters for a trace's model calls."""

    model: OneOrMore | None
    finish_reason: OneOrMore | None


@dataclass(frozen=True)
class Question(Generic[ModelT]):
    """Something to ask the service.

    Attributes:
        path: below the API's base, ids encoded.
        answer: the model of the answer.
        params: the query.
    """

    path: str
    answer: type[ModelT]
    params: tuple[tuple[str, str], ...] = ()

    def request(self, config: Config) -> Request:
        """The request that asks it."""
        return Request("GET", config.url(self.path), self.params, config.headers())


def traces(filters: TraceFilters) -> Question[TraceListPage]:
    """Traces, the newest first."""
    return Question("/traces", TraceListPage, query(filters, TraceFilters))


def trace(trace_id: str) -> Question[TraceSummary]:
    """One trace."""
    return Question(f"/traces/{segment(trace_id)}", TraceSummary)


def nodes(trace_id: str, filters: NodeFilters) -> Question[TraceNodePage]:
    """The nodes of a trace."""
    return Question(f"/traces/{segment(trace_id)}/nodes", TraceNodePage, query(filters, NodeFilters))


def calls(trace_id: str, filters: CallFilters) -> Question[TraceCallPage]:
    """The model calls of a trace."""
    return Question(f"/traces/{segment(trace_id)}/calls", TraceCallPage, query(filters, CallFilters))


def episodes(filters: EpisodeFilters) -> Question[EpisodeListPage]:
    """Episodes, the newest first."""
    return Question("/episodes", EpisodeListPage, query(filters, EpisodeFilters))


def episode(episode_id: str) -> Question[EpisodeDetail]:
    """One episode."""
    return Question(f"/episodes/{segment(episode_id)}", EpisodeDetail)


def episode_traces(episode_id: str, filters: MemberFilters) -> Question[TraceListPage]:
    """The traces of one episode."""
    return Question(f"/episodes/{segment(episode_id)}/traces", TraceListPage, query(filters, MemberFilters))


def runs(filters: RunFilters) -> Question[RunListPage]:
    """Runs, the last to grow first."""
    return Question("/runs", RunListPage, query(filters, RunFilters))


def run(run_id: str) -> Question[RunSummary]:
    """One run."""
    return Question(f"/runs/{segment(run_id)}", RunSummary)


def run_steps(run_id: str) -> Question[RunStepList]:
    """The training steps of one run."""
    return Question(f"/runs/{segment(run_id)}/steps", RunStepList)


def raw_request(kind: str, identifier: str, config: Config) -> Request:
    """The request for the stored bytes of a trace or an episode; `kind` is `traces` or `episodes`."""
    return Request("GET", config.url(f"/{kind}/{segment(identifier)}"), (("raw", "true"),), config.headers())


def following(question: Question[PageT], page: PageT) -> Question[PageT] | None:
    """The question for the page after this one, None after the last.

    Raises:
        InvalidAnswerError: the service gives the same page for ever, or a cursor that cannot be sent.
    """
    if not page.next_cursor:
        return None
    if ("cursor", page.next_cursor) in question.params:
        raise InvalidAnswerError("a page's next_cursor is its own: the list would never end")
    if len(page.next_cursor) > MAX_SEGMENT_CHARS:
        raise InvalidAnswerError("a page's next_cursor is too long for an address")
    others = tuple(pair for pair in question.params if pair[0] != "cursor")
    return replace(question, params=(*others, ("cursor", page.next_cursor)))
