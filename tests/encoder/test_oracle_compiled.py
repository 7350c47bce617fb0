"""Lists so long that the compiled part writes them, of items that it must leave to pydantic."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from encoder.conditions import pure
from tests.encoder.oracle import assert_same
from tests.naming import stable_id

MANY = 300  # more than are written as one simple value

VALUES = BaseModel.__dict__["__dict__"]


def assert_many_same(item_type: Any, *items: Any, **dump_kwargs: Any) -> None:
    holder = create_model("Holder", items=(list[item_type], ...))
    many = [*items] * (MANY // len(items) + 1)
    assert_same(holder.model_construct(items=many), **dump_kwargs)


class Word(enum.StrEnum):
    A = "a"


class OfProperty(BaseModel):
    a: int = 1

    @property
    def __dict__(self) -> dict[str, Any]:
        return {"a": 2}

    @__dict__.setter
    def __dict__(self, values: dict[str, Any]) -> None:
        VALUES.__set__(self, values)


class OfOwnReading(BaseModel):
    a: int = 1

    def __getattribute__(self, name: str) -> Any:
        return {"a": 2} if name == "__dict__" else super().__getattribute__(name)


class OfOwnExtras(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1

    def __getattribute__(self, name: str) -> Any:
        return {"b": 2} if name == "__pydantic_extra__" else super().__getattribute__(name)


@pytest.mark.parametrize("cls", [OfProperty, OfOwnReading, OfOwnExtras])
def test_classes_that_read_attributes_in_their_own_way(cls: type[BaseModel]) -> None:
    assert_many_same(cls, cls())


class Mixin:
    """Has a `__dict__` of its own, as any class without slots."""


class Mixed(Mixin, BaseModel):
    a: int = 1


def test_a_class_behind_another_that_is_no_model() -> None:
    assert_many_same(Mixed, Mixed())


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1


@pytest.mark.parametrize("exclude_none", [False, True])
@pytest.mark.parametrize("extras", [{"\ud800": None}, {"\ud800": 1}, {"é": None}, {1: None}, {"a": None}, {}, None])
def test_what_an_instance_was_given_besides(extras: Any, exclude_none: bool) -> None:
    odd = Open()
    object.__setattr__(odd, "__pydantic_extra__", extras)
    assert_many_same(Open, Open(b=1), odd, exclude_none=exclude_none)


def tagged(**options: Any) -> tuple[type[BaseModel], type[BaseModel]]:
    first = create_model("First", type=(Literal["a"], Field("a", **options)), x=(int, 1))
    return first, create_model("Second", type=(Literal["b"], Field("b", **options)), y=(int, 2))


is_short = pure(lambda value: value in ("a", "b"))


@pytest.mark.parametrize("dump_kwargs", [{}, {"exclude_none": True}, {"exclude_none": True, "warnings": "error"}])
@pytest.mark.parametrize("options", [{}, {"exclude": True}, {"exclude_if": is_short}], ids=stable_id)
@pytest.mark.parametrize("tag", ["a", "b", "c", None, 1, Word.A])
def test_a_tag_that_is_not_the_declared_one(tag: Any, options: dict[str, Any], dump_kwargs: dict[str, Any]) -> None:
    first, second = tagged(**options)
    union = Annotated[first | second, Field(discriminator="type")]
    items = (first.model_construct(type=tag), second())
    assert_many_same(union, *items, **dump_kwargs)
    nested = create_model("Nested", inner=(union, ...))
    assert_many_same(nested, *(nested.model_construct(inner=item) for item in items), **dump_kwargs)


answer: Any = False
answers = pure(lambda value: answer)


class Answered(BaseModel):
    a: int | None = Field(1, exclude_if=answers)
    b: int = 1


@pytest.mark.parametrize("said", [False, True, 0, 1, None, "", "x"], ids=stable_id)
@pytest.mark.parametrize("exclude_none", [False, True])
def test_an_exclude_if_that_says_neither_true_nor_false(
    said: Any, exclude_none: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "answer", said)
    assert_many_same(Answered, Answered(), Answered(a=None), exclude_none=exclude_none)
    assert_same(Answered(), exclude_none=exclude_none)
    assert_same(Answered(a=None), exclude_none=exclude_none)


def test_lists_of_nothing() -> None:
    assert_many_same(list[int], [])
    assert_many_same(dict[str, int], {})


class Chosen(BaseModel):
    kind: Literal["chosen"] = "chosen"
    word: Literal["a", "b"] | None = None
    number: Literal[1, "c"] = 1


class Other(BaseModel):
    kind: Literal["other"] = "other"


@pytest.mark.parametrize("values", [{"word": "zz"}, {"word": "a"}, {"number": "zz"}, {"number": 2}, {"number": "c"}])
def test_texts_that_are_not_declared_within_a_tagged_union(values: dict[str, Any]) -> None:
    union = Annotated[Chosen | Other, Field(discriminator="kind")]
    assert_many_same(union, Chosen(), Chosen.model_construct(**values), Other())
    holder = create_model("Holder", item=(union, ...))
    assert_same(holder.model_construct(item=Chosen.model_construct(**values)))
