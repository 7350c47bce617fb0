"""What the client takes and gives: line formats, batches, receipts, and what is read back."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

ItemT = TypeVar("ItemT")


class LineFormat(StrEnum):
    """What one line of an upload holds."""

    TRACE = "trace"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True)
class Batch:
    """The lines that travel in one request, known by the digest of their bytes.

    Attributes:
        digest: SHA-256 over the exact uncompressed bytes, newlines included: 64 lowercase hex characters.
        num_lines: how many lines it holds; blank ones are not among them.
        first_line_number: where its first line stands in the source, counted from 1, blank lines included.
        size: its uncompressed bytes.
    """

    digest: str
    num_lines: int
    first_line_number: int
    size: int

    @property
    def idempotency_key(self) -> str:
        """The value of the `Idempotency-Key` header: the same bytes always make the same key."""
        return f"sha256:{self.digest}"


class ServiceModel(BaseModel):
    """Something the service answers. It may grow: keys that are not known here are kept as attributes."""

    model_config = ConfigDict(extra="allow")


class UploadReceipt(ServiceModel):
    """The service's word that every line of a batch is durably stored.

    Attributes:
        upload_id: the batch's digest, 64 lowercase hex characters.
        status: `committed`; the service knows no partial success.
    """

    upload_id: str
    status: str


class ModelInfo(ServiceModel):
    """The model that a trace's agent ran on."""

    provider: str | None = None
    id: str | None = None


class Score(ServiceModel):
    """How a trace was judged; a reward of None is no reward, which is not 0.0."""

    reward: float | None = None
    outcome: str | None = None


class Execution(ServiceModel):
    """How a trace ended."""

    has_error: bool
    is_truncated: bool


class TraceSummary(ServiceModel):
    """What the service indexes of one trace; None is "not recorded". The raw document has the rest."""

    trace_id: str
    upload_id: str
    episode_id: str | None = None
    created_at: datetime
    ingested_at: datetime
    run_id: str | None = None
    environment_id: str | None = None
    model: ModelInfo
    task_id: str | None = None
    agent_name: str | None = None
    score: Score
    execution: Execution
    duration_ms: int
    total_tokens: int
    size_bytes: int
    context: dict[str, str]


class EpisodeError(ServiceModel):
    """The episode's own error, apart from those of its traces."""

    type: str | None = None
    message: str | None = None


class EpisodeSummary(ServiceModel):
    """What the service indexes of one episode. `has_error` and `error` are its own, not its traces'."""

    episode_id: str
    upload_id: str
    schema_version: int
    created_at: datetime
    ingested_at: datetime
    run_id: str | None = None
    environment_id: str | None = None
    outcome: str | None = None
    has_error: bool
    error: EpisodeError


class EpisodeTraceAggregate(ServiceModel):
    """The totals over an episode's traces; an episode may have none."""

    trace_count: int
    total_tokens: int
    total_duration_ms: int
    any_trace_error: bool
    agent_names: list[str]


class EpisodeDetail(EpisodeSummary):
    """One episode asked for by its id: the summary, and the totals over its traces."""

    traces: EpisodeTraceAggregate


class RunSummary(ServiceModel):
    """The totals over one run's traces, computed when asked for. `avg_reward` is over those with a reward."""

    run_id: str
    first_trace_created_at: datetime
    last_trace_created_at: datetime
    last_trace_ingested_at: datetime
    trace_count: int
    episode_count: int
    avg_reward: float | None = None
    step_min: int | None = None
    step_max: int | None = None
    step_count: int
    has_error: bool
    first_user_id: str | None = None
    environment_ids: list[str]
    model_ids: list[str]
    context: dict[str, str]


class RunStep(ServiceModel):
    """One training step of a run."""

    step: int
    trace_count: int
    episode_count: int
    avg_reward: float | None = None


class RunStepList(ServiceModel):
    """All training steps of a run, the oldest first; a run without any has no items."""

    step_min: int | None = None
    step_max: int | None = None
    step_count: int
    items: list[RunStep]


class NodeMessage(ServiceModel):
    """A node's message as its producer wrote it: contents and tool calls are whatever JSON they were."""

    role: str | None = None
    content: Any = None
    reasoning_content: str | None = None
    tool_calls: Any = None
    tool_call_id: str | None = None
    name: str | None = None
    tool_name: str | None = None


class TraceNode(ServiceModel):
    """One message node of a trace, by its index in the record."""

    node_idx: int
    parent_idx: int | None = None
    timestamp: float | None = None
    sampled: bool
    message: NodeMessage


class TraceCall(ServiceModel):
    """One model call of a trace, by its index in the record; its usage is in the raw document alone."""

    call_idx: int
    node_idx: int | None = None
    time_start: float | None = None
    time_end: float | None = None
    model: str | None = None
    endpoint: str | None = None
    finish_reason: str | None = None


class Page(ServiceModel, Generic[ItemT]):
    """One page of a list.

    Attributes:
        items: what is on it.
        next_cursor: what to pass as `cursor`, with the same filters, for the next page; None on the last one.
    """

    items: list[ItemT]
    next_cursor: str | None = None


class TraceListPage(Page[TraceSummary]):
    """One page of traces, the newest first."""


class EpisodeListPage(Page[EpisodeSummary]):
    """One page of episodes, the newest first."""


class RunListPage(Page[RunSummary]):
    """One page of runs, the last to grow first."""


class TraceNodePage(Page[TraceNode]):
    """One page of a trace's nodes. With `partial_index` the later ones are in the raw document alone."""

    partial_index: bool = False


class TraceCallPage(Page[TraceCall]):
    """One page of a trace's model calls. With `partial_index` the later ones are in the raw document alone."""

    partial_index: bool = False
