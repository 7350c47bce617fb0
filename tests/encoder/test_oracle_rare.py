"""Places that are rarely come by: what goes out in the middle of fields, odd members of unions, odd keys in results."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import enum
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel, Field, PlainSerializer, RootModel, computed_field

from encoder.columns import FloatColumn, IntColumn
from encoder.writers.base import MAX_WEIGHT
from tests.encoder import zoo
from tests.encoder.oracle import assert_same

TEXT = "x" * 15_000  # of a few of these, one makes what is held go out
Shouted = Annotated[str, PlainSerializer(lambda text: text.upper())]


class ManyTexts(BaseModel):
    a: Shouted = TEXT
    b: Shouted = TEXT
    c: Shouted = TEXT
    d: Shouted = TEXT
    e: int = 5


class ManyComputed(BaseModel):
    f: Any = zoo.Color.RED  # so that no instance has a simple form

    @computed_field
    @property
    def a(self) -> str:
        return TEXT

    @computed_field
    @property
    def b(self) -> str:
        return TEXT

    @computed_field
    @property
    def c(self) -> str:
        return TEXT

    @computed_field
    @property
    def d(self) -> str:
        return TEXT


class Shouting(BaseModel):
    texts: list[Shouted] = []


def test_what_is_held_goes_out_between_fields_and_items() -> None:
    assert_same(ManyTexts())
    assert_same(ManyComputed())
    assert_same(Shouting(texts=[TEXT] * 9))
    for length in range(MAX_WEIGHT - 70, MAX_WEIGHT + 2, 7):  # which a call's worth is filled by
        assert_same(ManyTexts(b="x" * length))


class Either(BaseModel):
    a: Annotated[str | None, Field()] | list[int]


def test_members_of_a_union_that_may_be_none_themselves() -> None:
    for value in (None, "text", [1, 2], "x" * 40_000, [True], 5):
        assert_same(lambda value=value: Either.model_construct(a=value))


class Red(BaseModel):
    kind: Literal[zoo.Color.RED] = zoo.Color.RED
    maybe: list[zoo.Leaf | None] = []


class Seven(BaseModel):
    kind: Literal[zoo.Color.SEVEN] = zoo.Color.SEVEN


class First(BaseModel):
    kind: Literal["first"] = "first"
    maybe: list[zoo.Leaf | None] = []


class Second(BaseModel):
    kind: Literal["second"] = "second"


class Tagged(BaseModel):
    enum: Annotated[Red | Seven, Field(discriminator="kind")] = Red()
    text: Annotated[First | Second, Field(discriminator="kind")] = First()


def test_tagged_unions_beside_scalars() -> None:
    lacking = zoo.Leaf()
    del lacking.__dict__["a"]
    for maybe in ([], [None, zoo.Leaf()], [None] * 300, [zoo.Leaf(), None] * 300, [lacking, None] * 300):
        assert_same(Tagged(enum=Red.model_construct(maybe=maybe), text=First.model_construct(maybe=maybe)))
    assert_same(Tagged(enum=Seven(), text=Second()))


@pytest.mark.parametrize("result", [{1: 2}, {"a": {1: 2}}, [{None: 1, "a": 2}], {"a": {1: "x" * 60_000}}])
def test_results_with_keys_that_are_no_text(result: Any) -> None:
    class Odd(BaseModel):
        a: Annotated[Any, PlainSerializer(lambda value: result)] = 1

    assert_same(Odd())
    assert_same(zoo.AnyRoot([Odd()]))


class Columns(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    ints: IntColumn | None = None
    floats: FloatColumn | None = None
    inner: "Columns | None" = None


@pytest.mark.parametrize("depth", [252, 253, 254, 255])
def test_columns_deep_down(depth: int) -> None:
    """A column is a container like any other, in whatever way it is written."""
    for last in (
        Columns(ints=np.arange(20_000)),
        Columns(floats=np.arange(20_000) / 8),
        Columns(ints=np.arange(3)),
        Columns(ints=np.arange(3, dtype=np.uint8)),
        Columns(ints=np.arange(0), floats=np.arange(3) / 8),
    ):
        model = last
        for _ in range(depth - 2):
            model = Columns(inner=model)
        assert_same(model, exclude_none=True)


class Extra(BaseModel):
    model_config = {"extra": "allow"}
    a: int = 1


class HoldingExtra(BaseModel):
    one: Extra
    many: list[Extra] = []


@pytest.mark.parametrize(
    "extras",
    [[1, 2], [], (1,), "abc", "", 5, 0, {1: 2}, {"a": 3}, {"k": 1}.items(), None, {}],
    ids=repr,
)
def test_extras_that_are_no_dict(extras: Any) -> None:
    """Pydantic writes a list then: the fields, and what it was given."""
    model = Extra()
    object.__setattr__(model, "__pydantic_extra__", extras)
    assert_same(model)
    assert_same(HoldingExtra.model_construct(one=model, many=[model] * 3))
    assert_same(zoo.AnyRoot([model]))


class Levels(enum.Enum):
    TEXT = "r"
    LIST = [1]  # noqa: RUF012 - an enum's member
    DICT = {"k": [1]}  # noqa: RUF012 - an enum's member


@pytest.mark.parametrize("depth", [150, 251, 252, 253, 254])
@pytest.mark.parametrize("level", [*Levels, zoo.Color.RED, 1], ids=repr)
def test_enums_deep_down(depth: int, level: Any) -> None:
    """Pydantic counts an enum as a level of its own."""
    value = level
    for _ in range(depth):
        value = [value]
    assert_same(zoo.AnyRoot(value))
    assert_same(ManyComputed.model_construct(f=value))
    assert_same(RootModel[list[Any]](value))
