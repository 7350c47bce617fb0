"""How many values are left to pydantic by one call: by their weight, and by the last call's time."""

import array
import collections
import datetime
import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, RootModel

from encoder import to_json
from encoder.compiled import IS_COMPILED, native
from encoder.writers import calls as calls_of_pydantic
from encoder.writers import left
from encoder.writers.base import LEFT_WEIGHT
from encoder.writers.left import AtOnce, are_light
from tests.encoder.oracle import oracle

compiled = pytest.mark.skipif(not IS_COMPILED, reason="there was no compiler when the encoder was installed")


class Dated(BaseModel):
    model_config = ConfigDict(extra="allow")
    at: datetime.date = datetime.date(2030, 1, 1)
    held: Any = None


@dataclass
class Plain:
    held: Any = None
    more: list[Any] = field(default_factory=list)


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


class Endless:
    def __len__(self) -> int:
        raise AssertionError("no Python code may run")


def endless() -> Any:
    inner: list[Any] = []
    inner.append(inner)
    return inner


LARGE: list[Any] = [
    "x" * 50_000,
    b"x" * 50_000,
    list(range(10_000)),
    tuple(range(10_000)),
    set(range(10_000)),
    dict.fromkeys(range(10_000)),
    {"a" * 50_000: 1},
    np.zeros(10_000),
    memoryview(bytes(50_000)),
]
UNTOLD: list[Any] = [
    range(3),
    iter([1]),
    (number for number in (1, 2)),
    collections.deque([1]),
    array.array("i", [1]),
    np.array([1, None]),
    {}.values(),
    Endless(),
    endless(),
]


@compiled
@pytest.mark.parametrize(
    "value",
    [1, None, 1.5, "text", uuid.UUID(int=1), datetime.date(2030, 1, 1), [1, [2]], Dated(), Plain(), np.zeros(3)],
)
def test_light_values(value: Any) -> None:
    assert are_light([value])


@compiled
@pytest.mark.parametrize("value", LARGE + UNTOLD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "inside",
    [lambda value: value, lambda value: [value], Plain, Slotted, lambda value: Dated(held=value),
     lambda value: Dated(extra=[value])],
    ids=["alone", "list", "dataclass", "slots", "field", "extra"],
)  # fmt: skip
def test_what_is_heavy_or_tells_nothing_of_its_size_is_not_light_wherever_it_stands(inside: Any, value: Any) -> None:
    assert not are_light([inside(value)])


@compiled
def test_items_are_light_together_and_each() -> None:
    items = ["x" * 1000] * 100
    assert native.light(items, 0, 100, 10_500, 2000) == 10
    assert native.light(items, 5, 100, 10_500, 2000) == 15
    assert native.light(items, 0, 100, 10**9, 2000) == 100
    assert native.light(items, 0, 200, 10**9, 2000) == 100
    assert native.light(items, 7, 100, 10**9, 900) == 7


def test_more_and_more_as_long_as_it_is_quick() -> None:
    at_once = AtOnce(is_bounded=True)
    items: list[Any] = [1] * 100_000
    start, counts = 0, []
    for _ in range(9):
        stop = at_once.stop(items, start, len(items))
        at_once.took(start, stop, 1e-6)
        counts.append(stop - start)
        start = stop
    assert counts == [16, 32, 64, 128, 256, 512, 1024, 1024, 1024]
    at_once.took(start - 1024, start, 0.25e-3 * 8)
    assert at_once.stop(items, start, len(items)) == start + 128
    at_once.took(start, start + 128, 1.0)
    assert at_once.stop(items, start + 128, len(items)) == start + 129


def test_after_others_it_begins_anew() -> None:
    at_once = AtOnce(is_bounded=True)
    items: list[Any] = [1] * 1000
    at_once.took(0, at_once.stop(items, 0, 1000), 0.0)
    assert at_once.stop(items, 16, 1000) == 48
    assert at_once.stop(items, 500, 1000) == 516


class Costly(BaseModel):
    at: datetime.date = datetime.date(2030, 1, 1)
    numbers: list[int] = []


@pytest.mark.parametrize(
    "model",
    [
        RootModel[list[Costly]]([Costly(), Costly(numbers=list(range(9000))), *[Costly()] * 2000]),
        RootModel[dict[str, Costly]]({"a": Costly(), "b": Costly(numbers=list(range(9000))), **{
            str(number): Costly() for number in range(2000)}}),
        RootModel[dict[int, datetime.date]]({number: datetime.date(2030, 1, 1) for number in range(3000)}),
        RootModel[list[Plain]]([Plain(1), Plain("x" * 200_000), *[Plain()] * 100]),
        RootModel[list[int | str]]([1, "a"] * 3000),
        RootModel[list[Costly]]([]),
    ],
    ids=["models", "models by name", "dates by number", "dataclasses", "a union", "nothing"],
)  # fmt: skip
def test_the_oracles_bytes(model: BaseModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert to_json(model) == oracle(model)
    monkeypatch.setattr(left, "_MOST_S", 0.0)  # every call takes too long
    assert to_json(model) == oracle(model)


@compiled
def test_many_light_ones_cost_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def dumped(serializer: Any, value: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(len(value))
        return real(serializer, value, *arguments, **options)

    real = calls_of_pydantic.dumped
    monkeypatch.setattr(left, "dumped", dumped)
    monkeypatch.setattr(left, "perf_counter", lambda: 0.0)
    to_json(RootModel[list[Costly]]([Costly()] * 5000))
    assert sum(calls) == 5000
    assert len(calls) < 40
    assert max(calls) < LEFT_WEIGHT
