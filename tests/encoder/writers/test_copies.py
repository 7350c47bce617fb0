"""Tuples and sets of any length: written as lists of their items are, in short steps."""

import datetime
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from encoder import iter_json, to_json
from encoder.errors import EncodeError
from encoder.plan import plan_of
from encoder.writers.copies import CopiedWriter
from encoder.writers.models import ModelWriter
from tests.encoder.oracle import assert_same


class Leaf(BaseModel):
    number: int = 1
    at: datetime.date | None = None


class Named(NamedTuple):
    a: int
    b: int


class Holder(BaseModel):
    numbers: tuple[int, ...] = ()
    names: set[str] = set()
    frozen: frozenset[int] | None = None
    leaves: tuple[Leaf, ...] = ()
    anything: tuple[Any, ...] = ()
    pair: tuple[int, str] = (1, "a")
    rows: list[tuple[float, ...]] = []


def undeclared(values: dict[str, Any]) -> Holder:
    """An instance that nobody has validated."""
    return Holder.model_construct(**values)


MODELS: dict[str, Holder] = {
    "nothing": Holder(),
    "long": Holder(numbers=tuple(range(9000)), names={f"é {n}" for n in range(3000)}, frozen=frozenset(range(5000))),
    "models": Holder(leaves=(Leaf(), Leaf(at=datetime.date(2030, 1, 1))) * 2000),
    "anything": Holder(anything=("x" * 60_000, [1], (), {"a": (1,)}, Leaf(), datetime.date(2030, 1, 1)) * 9),
    "rows": Holder(rows=[(0.5, 1.0)] * 2000 + [tuple(map(float, range(9000)))]),
    "not as declared": undeclared(
        {"numbers": Named(1, 2), "names": ["a"], "frozen": {1}, "leaves": [Leaf()], "anything": [1], "rows": [[1.0]]}
    ),
    "items not as declared": undeclared(
        {"numbers": (1, True, None, "a") * 2000, "leaves": (1, None, Leaf()) * 900, "names": set(range(2000))}
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_oracles_bytes(name: str) -> None:
    assert_same(MODELS[name])
    assert_same(MODELS[name], exclude_none=True)
    assert_same(MODELS[name], exclude={"numbers": {0}, "leaves": {"__all__": {"number"}}})


def test_what_no_writer_knows_is_named_by_its_place() -> None:
    holder = Holder(anything=(*["x" * 1000] * 200, object()))
    assert_same(holder)
    with pytest.raises(EncodeError) as raised:
        to_json(holder)
    assert raised.value.path == "$.anything[200]"


def test_a_tuple_inside_of_itself() -> None:
    inner: list[Any] = ["x" * 100_000]
    inner.append((inner,))
    assert_same(Holder(anything=(inner,)))


@pytest.mark.planned
def test_only_tuples_of_any_length_are_copied() -> None:
    plan = plan_of(Holder)
    assert isinstance(plan, ModelWriter)
    copied = {name for name, field in plan.plan.fields.items() if type(field.writer) is CopiedWriter}
    assert copied == {"numbers", "names", "frozen", "leaves", "anything"}


def test_in_short_steps() -> None:
    pieces = list(iter_json(Holder(numbers=tuple(range(10**12, 10**12 + 100_000)))))
    assert len(pieces) > 10
    assert max(map(len, pieces)) < 200_000
