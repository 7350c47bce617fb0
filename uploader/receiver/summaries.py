"""From a record to its row in the index: the contract's summaries of traces and episodes."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from uploader.receiver.documents import (
    EpisodeRecord,
    RecordError,
    Run,
    Span,
    Task,
    TraceDocument,
    loose_integer,
    loose_text,
)

#: Descriptive texts are cut to this many characters in summaries; the raw record keeps them whole.
MAX_TEXT_CHARS: Final = 4096
#: What a training framework calls a reply that was cut off by its own limits.
_TRUNCATING_STOPS: Final = frozenset(
    {"max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "compaction_failed"}
)
#: The end of the year 9999, the last that RFC 3339 can write.
_MAX_TIME_US: Final = 253_402_300_799_999_999


class TraceRow(NamedTuple):
    """One row of `traces`, in column order. Times are microseconds since the epoch, None where unknown."""

    trace_id: str
    episode_id: str | None
    offset: int
    size: int
    created_at: int | None
    run_id: str | None
    step: int | None
    environment_id: str | None
    model_provider: str | None
    model_id: str | None
    task_id: str | None
    agent_name: str | None
    reward: float | None
    outcome: str | None
    has_error: bool
    is_truncated: bool
    duration_ms: int
    total_tokens: int


class EpisodeRow(NamedTuple):
    """One row of `episodes`, in column order."""

    episode_id: str
    offset: int
    size: int
    created_at: int | None
    run_id: str | None
    environment_id: str | None
    outcome: str | None
    has_error: bool
    error_type: str | None
    error_message: str | None


def trace_row(trace: TraceDocument, episode: EpisodeRecord | None, offset: int, size: int) -> TraceRow:
    """Summarize a trace.

    Args:
        trace: the trace.
        episode: the episode it is a member of.
        offset: where its bytes start in the uncompressed upload.
        size: how many there are.
    """
    record = trace.record
    env = record.env if episode is None else episode.env or record.env
    run = record.run or (episode.run if episode is not None else None)
    config = record.agent.config if record.agent is not None else None
    return TraceRow(
        trace_id=record.id,
        episode_id=episode.id if episode is not None else None,
        offset=offset,
        size=size,
        created_at=_recorded_time(record.timing.start if record.timing is not None else None),
        run_id=_run_id(run),
        step=_step(run),
        environment_id=(env.id or None) if env is not None else None,
        model_provider=_text(loose_text(config.provider)) if config is not None else None,
        model_id=_model_id(trace),
        task_id=_task_id(record.task),
        agent_name=_text(record.agent.name) if record.agent is not None else None,
        reward=_reward(trace),
        outcome=_text(loose_text(record.info.outcome)) if record.info is not None else None,
        has_error=bool(trace.errors),
        is_truncated=_is_truncated(trace),
        duration_ms=_duration_ms(trace),
        total_tokens=record.num_total_tokens or 0,
    )


def episode_row(
    record: EpisodeRecord, errors: list[RecordError], members: list[TraceRow], offset: int, size: int
) -> EpisodeRow:
    """Summarize an episode: what it lacks comes from its members."""
    error = errors[-1] if errors else RecordError()
    outcomes = {member.outcome for member in members}
    return EpisodeRow(
        episode_id=record.id,
        offset=offset,
        size=size,
        created_at=min((m.created_at for m in members if m.created_at is not None), default=None),
        run_id=next((m.run_id for m in members if m.run_id is not None), _run_id(record.run)),
        environment_id=(record.env.id or None) if record.env is not None else None,
        outcome=outcomes.pop() if len(outcomes) == 1 else None,
        has_error=bool(errors),
        error_type=_text(error.type),
        error_message=_text(error.message),
    )


def _text(value: object) -> str | None:
    return value[:MAX_TEXT_CHARS] if isinstance(value, str) else None


def _recorded_time(seconds: float | None) -> int | None:
    """A time in microseconds; None when it was not recorded, which records write as 0, or is nonsense."""
    if seconds is None or not math.isfinite(seconds):
        return None
    microseconds = round(seconds * 1e6)
    return microseconds if 0 < microseconds <= _MAX_TIME_US else None


def _run_id(run: Run | None) -> str | None:
    return (run.id or None) if run is not None else None


def _step(run: Run | None) -> int | None:
    """The training step; an evaluation within a training run has steps of its own."""
    if run is None or run.work is None or run.work.type not in (None, "train"):
        return None
    return run.work.step


def _model_id(trace: TraceDocument) -> str | None:
    called = next((call.model for call in trace.calls if call.model), None)
    agent = trace.record.agent
    if called is None and agent is not None and agent.config is not None:
        called = loose_text(agent.config.model)
    return _text(called)


def _task_id(task: Task | None) -> str | None:
    if task is None:
        return None
    data_id = _text(loose_text(task.data.id)) if task.data is not None else None
    if data_id or task.key:
        return data_id or _text(task.key)
    idx = loose_integer(task.data.idx) if task.data is not None else None
    return None if idx is None else str(idx)


def _reward(trace: TraceDocument) -> float | None:
    scores = [reward.score * reward.weight for reward in trace.rewards.values() if reward is not None]
    total = sum(scores)
    return total if scores and math.isfinite(total) else None


def _is_truncated(trace: TraceDocument) -> bool:
    if trace.record.stop_condition in _TRUNCATING_STOPS:
        return True
    last = next((call for call in reversed(trace.calls) if bytes(call.error) == b"null"), None)
    return last is not None and last.finish_reason == "length"


def _duration_ms(trace: TraceDocument) -> int:
    """From the trace's start to the end of the last thing that happened in it."""
    timing = trace.record.timing
    if timing is None or not timing.start:
        return 0
    spans: Iterable[Span | None] = (
        timing.boot,
        timing.setup,
        timing.agent,
        timing.finalize,
        timing.scoring,
        *(call.time for call in trace.calls),
    )
    last = max((span.end or 0.0 for span in spans if span is not None), default=0.0)
    # A nonsense clock must not overflow the column: a century is long enough.
    return round(min(max(0.0, last - timing.start), 3.2e9) * 1000)
