"""Models as others write them: Python lists, and serializers of their own."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, field_serializer, model_serializer

import encoder
from encoder.synthetic import synthetic_episode

_EVENTS: Final = 60_000


class LongestCall:
    """How long the longest call of a serializer took; in one place, as serializers have no arguments to spare."""

    seconds = 0.0

    @classmethod
    def note(cls, start: float) -> None:
        """Note a call that started then (by `time.thread_time`) and ends now."""
        cls.seconds = max(cls.seconds, time.thread_time() - start)

    @classmethod
    def during(cls, work: Callable[[], object]) -> float:
        """The seconds of the longest call during some work."""
        cls.seconds = 0.0
        work()
        return cls.seconds


class PlainModel(BaseModel):
    """What the ways of encoding need of a model."""

    def to_record(self) -> Any:
        return self.model_dump(mode="json")

    def to_json(self) -> bytes:
        return encoder.to_json(self)

    def iter_json(self) -> Iterator[bytes]:
        return encoder.iter_json(self)

    def aiter_json(self) -> AsyncIterator[bytes]:
        return encoder.aiter_json(self)


class ListNode(BaseModel):
    """A node whose columns are lists, as most have them."""

    role: Literal["user", "assistant", "tool"]
    content: str
    token_ids: list[int]
    mask: list[bool]
    logprobs: list[float]


class ListEpisode(PlainModel):
    """Lists, and no serializer."""

    nodes: list[ListNode]


class RoundingNode(ListNode):
    """A node that rounds its floats with a serializer of its own."""

    @field_serializer("logprobs")
    def _rounded(self, values: list[float]) -> list[float]:
        start = time.thread_time()
        rounded = [round(value, 4) for value in values]
        LongestCall.note(start)
        return rounded


class RoundingEpisode(PlainModel):
    """Lists, and a field serializer in each node."""

    nodes: list[RoundingNode]


class WrappedNode(ListNode):
    """A node that a model serializer changes as a whole."""

    @model_serializer(mode="wrap")
    def _wrapped(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        start = time.thread_time()
        record: dict[str, Any] = handler(self) | {"num_tokens": len(self.token_ids)}
        LongestCall.note(start)
        return record


class WrappedEpisode(PlainModel):
    """Lists, and a model serializer around each node."""

    nodes: list[WrappedNode]


class Usage(BaseModel):
    """A small model, of which there are many."""

    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    tags: list[str] = Field(default_factory=list)


class Kind(Enum):
    """What an event was."""

    STARTED = "started"
    ENDED = "ended"


class Event(BaseModel):
    """A small model with fields that only pydantic writes."""

    id: UUID
    at: datetime
    kind: Kind
    took_s: float


class DatedLog(PlainModel):
    """Very many small models with dates and the like."""

    events: list[Event]


@dataclass
class Point:
    """What is no model."""

    x: int
    y: float
    name: str


class PointLog(PlainModel):
    """Very many dataclasses."""

    points: list[Point]


class EventLog(PlainModel):
    """Very many small models and dicts."""

    events: list[Usage]
    notes: dict[str, dict[str, Any]]


def models() -> dict[str, Callable[[], PlainModel]]:
    """What makes each model, by its name in tables."""
    return {
        "lists": lambda: ListEpisode(nodes=_nodes(ListNode)),
        "lists, rounding": lambda: RoundingEpisode(nodes=_nodes(RoundingNode)),
        "lists, wrapped": lambda: WrappedEpisode(nodes=_nodes(WrappedNode)),
        "small models": _events,
        "with dates": _dated,
        "dataclasses": lambda: PointLog(points=[Point(number, number / 7, "p") for number in range(_EVENTS)]),
    }


def _dated() -> DatedLog:
    start, kinds = datetime(2030, 1, 1, tzinfo=UTC), tuple(Kind)
    return DatedLog(
        events=[
            Event(id=UUID(int=number), at=start + timedelta(seconds=number), kind=kinds[number % 2], took_s=number / 8)
            for number in range(_EVENTS)
        ]
    )


def _nodes(node_class: type[Any]) -> list[Any]:
    return [
        node_class(
            role="assistant" if node.sampled else "tool",
            content=getattr(node.message, "content", None) or "",
            token_ids=node.token_ids.tolist(),
            mask=node.mask.tolist(),
            logprobs=node.logprobs.tolist(),
        )
        for node in synthetic_episode(9, target_bytes=8_400_000).traces[0].nodes
    ]


def _events() -> EventLog:
    return EventLog(
        events=[Usage(prompt_tokens=n, completion_tokens=n % 900, tags=["a", "b"][: n % 3]) for n in range(_EVENTS)],
        notes={f"step {n}": {"reward": n / 7, "ok": n % 2 == 0, "text": "as expected"} for n in range(40_000)},
    )
