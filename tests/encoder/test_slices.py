"""No call is handed more than its slice, whatever the shape, and no step makes many calls: told by sizes, not times."""

import asyncio
import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, RootModel

from benchmarks.shapes import all_shapes, one_node
from encoder import AssistantMessage, Episode, Error, ModelCall, Reward, ToolCall, Usage, UserMessage
from encoder.columns import ColumnKind
from encoder.compiled import IS_COMPILED
from encoder.encode import aiter_json, iter_json, to_json
from encoder.splicer import PIECE_BYTES
from encoder.synthetic import synthetic_episode
from encoder.writers.base import HOLDING_WEIGHT, LEFT_WEIGHT, MAX_WEIGHT, SCALAR_WEIGHT, TEXT_SLICE
from encoder.writers.columns import COLUMN_WEIGHTS, SLICES
from encoder.writers.left import _MANY
from encoder.writers.rows import ITEM_COST, ROW_COST
from tests.encoder.handed import Step, recorded

MANY: Final = 10_000
FLOATS: Final = 300_000

# What is gathered weighs less than the maximum before the last item, which weighs no more than it by itself.
HEAVIEST: Final = 2 * MAX_WEIGHT

# A step may write what was gathered before a heavy item, and the first part of that.
PER_STEP: Final = 3 * MAX_WEIGHT

# Escaped, a character takes six bytes at most.
BYTES: Final = 6 * HEAVIEST

# The compiled part counts a nanosecond for a character or a flag, which take as many bytes at most.
ROW: Final = 6 * (ROW_COST + ITEM_COST)

# What is gathered in one step are so many items at most, and some two dozen calls are made for each of the lightest.
CALLS: Final = MAX_WEIGHT // (SCALAR_WEIGHT + HOLDING_WEIGHT) * 24

# What pydantic dumps by one call: a leaf weighs 6 at least (encoder/native/light.c).
LEAVES: Final = LEFT_WEIGHT // 6

RANDOM: Final = np.random.default_rng(5)


class Own(BaseModel):
    """A model that is no record."""

    model_config = ConfigDict(extra="allow")
    texts: list[str] = []
    words: dict[str, int] = {}
    times: list[datetime.datetime] = []
    anything: Any = None


class Words(RootModel[dict[str, int]]):
    """A model that is written as what it holds."""


class Dated(BaseModel):
    """A model of which pydantic alone knows a field."""

    date: datetime.date = datetime.date(2030, 1, 1)
    numbers: list[int] = []


@dataclass
class Plain:
    """What is no model."""

    a: int = 1
    b: str = "text"


def numbered(value: object = 1) -> dict[str, Any]:
    return {f"key {number}": value for number in range(MANY)}


def episode_with(change: Callable[[Episode], object]) -> Episode:
    episode = one_node()
    change(episode)
    return episode


def many_calls(episode: Episode) -> None:
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    episode.traces[0].calls += [ModelCall(node=1, usage=usage)] * (MANY // 2)


MORE: dict[str, Callable[[], BaseModel]] = {
    "floats beyond the table": lambda: one_node(logprobs=RANDOM.standard_normal(FLOATS) * 1e6),
    "some floats beyond it": lambda: one_node(logprobs=RANDOM.standard_normal(FLOATS) * 5),
    "NaNs": lambda: one_node(logprobs=np.full(FLOATS, np.nan)),
    "some NaNs": lambda: one_node(logprobs=np.where(RANDOM.random(FLOATS) < 0.05, np.nan, 0.5)),
    "the same float": lambda: one_node(advantages=np.full(FLOATS, 0.25)),
    "every digit": lambda: Own(anything=one_node(logprobs=RANDOM.standard_normal(FLOATS))),
    "mixed flags": lambda: one_node(mask=RANDOM.random(FLOATS) < 0.5, is_content=np.arange(FLOATS) > FLOATS // 2),
    "ids of 64 bits": lambda: one_node(token_ids=np.arange(2**40, 2**40 + FLOATS)),
    "ids of unsigned 64 bits": lambda: one_node(token_ids=np.arange(2**63, 2**63 + FLOATS, dtype=np.uint64)),
    "big ints": lambda: Own(anything=[2**63 + number for number in range(MANY)], words=numbered(2**63)),
    "long nodes": lambda: synthetic_episode(5, num_nodes=40, tokens_per_node=8000),
    "nodes of 200": lambda: synthetic_episode(5, num_nodes=400, tokens_per_node=200),
    "parts of a message": lambda: one_node(message=UserMessage(content=[{"type": "text", "text": "x"}] * (MANY // 2))),
    "tool calls": lambda: one_node(
        message=AssistantMessage(tool_calls=[ToolCall(id="c", name="run", arguments="{}")] * (MANY // 2))
    ),
    "links of a node": lambda: one_node(semantic_parents=[{"node": 1, "type": "return"}] * MANY),
    "loss weights": lambda: one_node(loss_weights={"all": [0.5] * (FLOATS // 4), **numbered([1.0])}),
    "loss weights of 200": lambda: one_node(loss_weights={f"key {number}": [1.0] * 200 for number in range(500)}),
    "calls": lambda: episode_with(many_calls),
    "errors": lambda: episode_with(lambda episode: episode.errors.extend([Error(type="a", message="b")] * (MANY // 2))),
    "metrics": lambda: episode_with(lambda episode: episode.traces[0].metrics.update(numbered(0.5))),
    "rewards": lambda: episode_with(lambda episode: episode.traces[0].rewards.update(numbered(Reward(score=1.0)))),
    "values besides the fields": lambda: Own(**numbered()),
    "values besides the fields of a task": lambda: episode_with(
        lambda episode: (episode.task.data.__pydantic_extra__ or {}).update(numbered())
    ),
    "values besides the fields, under Any": lambda: Own(anything=Own(**numbered())),
    "short texts": lambda: Own(texts=["abc"] * MANY),
    "longer texts": lambda: Own(texts=["é" * 3000] * 500),
    "words": lambda: Own(words=numbered()),
    "sets and tuples": lambda: Own(anything={"set": set(range(MANY)), "tuple": tuple(range(MANY))}),
    "numbers as keys": lambda: Own(anything=dict.fromkeys(range(MANY), 1)),
    "models under Any": lambda: Own(anything=[Own(anything=number) for number in range(500)]),
    "times under Any": lambda: Own(anything=[datetime.datetime(2030, 1, 1)] * (MANY // 4)),
    "a root model": lambda: RootModel[list[Own]]([Own(texts=["abc"] * 20)] * (MANY // 20)),
    "root models in a list": lambda: RootModel[list[Words]]([Words(numbered())] * 5),
    "root models under Any": lambda: Own(anything=[Words(numbered())] * 5),
    "models of dates": lambda: RootModel[list[Dated]]([Dated(numbers=list(range(200)))] * 500),
    "models of dates by name": lambda: RootModel[dict[str, Dated]](
        {str(n): Dated(numbers=[n] * 200) for n in range(500)}
    ),
    "large models of dates": lambda: RootModel[list[Dated]]([Dated(numbers=list(range(MANY)))] * 3),
    "a tuple": lambda: RootModel[tuple[int, ...]](tuple(range(MANY * 5))),
    "a set": lambda: RootModel[frozenset[str]](frozenset(numbered())),
    "tuples of models": lambda: Own(anything=RootModel[tuple[Dated, ...]]((Dated(numbers=[1] * 20),) * MANY)),
    "small sets": lambda: RootModel[list[set[int]]]([{1, 2, 3}] * MANY),
    "dataclasses": lambda: RootModel[list[Plain]]([Plain()] * MANY),
    "dates by name": lambda: RootModel[dict[str, datetime.date]](numbered(datetime.date(2030, 1, 1))),
    "times in a list": lambda: Own(times=[datetime.datetime(2030, 1, 1)] * MANY),
}
SHAPES: dict[str, Callable[[], BaseModel]] = {shape.name: shape.build for shape in all_shapes(one_in=50)} | MORE


async def joined(model: BaseModel) -> list[bytes]:
    pieces = model.aiter_json() if isinstance(model, Episode) else aiter_json(model)
    return [piece async for piece in pieces]


def encodings(model: BaseModel) -> Iterator[list[bytes]]:
    """The pieces that each way makes."""
    if isinstance(model, Episode):
        yield [model.to_json()]
        yield list(model.iter_json())
    else:
        yield [to_json(model)]
        yield list(iter_json(model))
    yield asyncio.run(joined(model))


def check(step: Step) -> None:
    """Assert that nothing in a step took more than its slice."""
    assert step.text <= TEXT_SLICE
    assert all(length <= SLICES[kind] for kind, length in step.column.items())
    assert step.heaviest <= HEAVIEST
    assert step.weight <= PER_STEP
    assert step.floats <= max(SLICES[ColumnKind.FLOATS], HEAVIEST // COLUMN_WEIGHTS[ColumnKind.FLOATS])
    assert step.row <= ROW
    assert step.dumped <= _MANY
    assert step.leaves <= LEAVES
    assert step.calls <= CALLS
    for method, length in step.longest.items():
        assert length <= (BYTES if method.startswith("bytes.") else max(SLICES.values())), method


@pytest.mark.parametrize("name", SHAPES)
def test_no_call_is_handed_more_than_its_slice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SHAPES[name]()
    with recorded(monkeypatch) as recorder:
        ways = list(encodings(model))
    assert len({b"".join(pieces) for pieces in ways}) == 1
    assert all(len(piece) <= PIECE_BYTES + BYTES for pieces in ways[1:] for piece in pieces)
    assert len(recorder.steps) > len(ways)
    for step in recorder.steps:
        check(step)


@pytest.mark.parametrize("name", ["a root model", "root models in a list"])
def test_nothing_is_dumped_as_a_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("encoder.splicer.dump_whole", None)
    with recorded(monkeypatch) as recorder:
        to_json(MORE[name]())
    for step in recorder.steps:
        check(step)


NONE: Final = 10**9


@pytest.mark.parametrize(
    ("name", "value", "make"),
    [
        ("encoder.writers.scalars.TEXT_SLICE", NONE, lambda: Own(texts=["x" * 100_000])),
        ("encoder.writers.gather.MAX_WEIGHT", NONE, lambda: Own(**dict.fromkeys(numbered(), "x" * 100))),
        ("encoder.writers.trees.MAX_WEIGHT", NONE, lambda: Own(anything=[{"a": ["x" * 1000] * 1000}])),
        pytest.param(
            "encoder.writers.rows.ROW_COST",
            NONE,
            lambda: Own(texts=["x" * 1000] * 5000),
            marks=pytest.mark.skipif(not IS_COMPILED, reason="there is no compiled part"),
        ),
        ("encoder.writers.columns.SLICES", dict.fromkeys(ColumnKind, NONE), MORE["mixed flags"]),
        ("encoder.writers.snapshots.KEYS_AT_ONCE", NONE, lambda: Own(words={f"\u00e9 {n}": 1 for n in range(MANY)})),
        ("encoder.writers.wholes._LOOKS_AT_ONCE", NONE, MORE["tool calls"]),
        ("encoder.writers.models._SMALL", NONE, lambda: Own(**numbered())),
        ("encoder.writers.left._MANY", NONE, MORE["times in a list"]),
        pytest.param(
            "encoder.writers.left.LEFT_WEIGHT",
            NONE,
            MORE["models of dates"],
            marks=pytest.mark.skipif(not IS_COMPILED, reason="there is no compiled part"),
        ),
    ],
)
def test_a_call_that_is_handed_too_much_is_seen(
    name: str, value: Any, make: Callable[[], BaseModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name, value)
    with recorded(monkeypatch) as recorder:
        to_json(make())
    with pytest.raises(AssertionError):
        list(map(check, recorder.steps))


class Rooted(RootModel[list[int]]):
    pass


class Rows(BaseModel):
    any: Any = None
    texts: list[str] = []
    words: dict[str, str] = {}
    counts: dict[int, float] = {}
    pair: tuple[Any, ...] = ()


@pytest.mark.parametrize(
    ("model", "calls"),  # calls for each item: of a dict it is two to get its members in turn
    [
        (Rows(any=list(range(MANY))), 0.25),
        (Rows(any={"floats": [0.5] * MANY, "set": set(range(MANY))}), 0.25),
        (Rows(any={str(number): None for number in range(MANY)}), 2.5),
        (Rows(texts=["text"] * MANY), 0.25),
        (Rows(words={str(number): "text" for number in range(MANY)}), 2.5),
        (Rows(counts=dict.fromkeys(range(MANY), 0.5)), 4.5),
        (Rows(pair=tuple(range(MANY))), 0.25),
        (Rooted(list(range(MANY))), 0.25),
    ],
)
def test_numbers_and_short_texts_cost_no_call_each(
    model: BaseModel, calls: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded(monkeypatch) as recorder:
        to_json(model)
    assert sum(step.calls for step in recorder.steps) < calls * MANY
