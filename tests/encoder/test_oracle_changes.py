"""What user code changes while a model is written, and how often it is asked."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field, field_serializer

from tests.encoder import zoo
from tests.encoder.oracle import assert_same, repeated
from tests.encoder.test_oracle_fields import KWARGS
from tests.naming import stable_id


class Mutating(BaseModel):
    """Its serializers change the instance while it is written."""

    model_config = ConfigDict(extra="allow")
    a: int = 1
    b: zoo.Color = zoo.Color.RED
    c: list[int] = [1]
    d: Any = {"k": [1]}
    e: int = 2

    @field_serializer("a", "e")
    def _change(self, value: Any) -> Any:
        self.__dict__["b"] = zoo.Color.SEVEN
        self.__dict__["c"].append(7)
        self.__dict__["d"]["k"].append(value)
        self.__dict__["late"] = 1
        assert self.__pydantic_extra__ is not None
        self.__pydantic_extra__["x1"] = value
        return value

    @computed_field
    @property
    def f(self) -> Any:
        return [self.b, self.c]


def test_serializers_that_change_the_instance() -> None:
    def make() -> Mutating:
        return Mutating(c=[1], d={"k": [1]}, x0=1)

    assert_same(make)
    assert_same(lambda: zoo.AnyRoot([make(), make()]))
    assert_same(make, exclude={"c": {0}})


def test_values_that_change_after_they_were_passed() -> None:
    class Late(BaseModel):
        a: Any
        b: dict[str, Any]
        c: list[Any]
        d: int = 1

        @field_serializer("d")
        def _d(self, value: int) -> int:
            self.a.append("late")
            self.b["late"] = 1
            self.b["k"].append("late")
            self.c.append("late")
            self.c[0].append("late")
            return value

    assert_same(lambda: Late(a=[1], b={"k": [1]}, c=[[1]]))
    assert_same(lambda: zoo.AnyRoot([Late(a=[1], b={"k": [1]}, c=[[1]])]))


def test_exclude_if() -> None:
    calls: list[Any] = []

    def note(value: Any) -> bool:
        calls.append(value)
        return value in (None, 0, [])

    class Item(BaseModel):
        a: int | None = Field(None, exclude_if=note)
        b: list[int] = Field([], exclude_if=note)
        c: str = Field("c", exclude_if=note)
        d: Any = Field(None, exclude_if=note)
        e: zoo.Leaf = Field(zoo.Leaf(), exclude_if=note)

    class Items(BaseModel):
        items: list[Item]
        last: zoo.Color = zoo.Color.RED

    models = [
        Item(),
        Item(a=0, b=[1]),
        Item.model_construct(a=2**64, b=[True], c="\ud800"),
        Item(a=1, c="x" * 100_000),
        Items(items=[Item(), Item(a=3), Item(d=zoo.Leaf()), Item(d=zoo.Color.RED)]),
        Items(items=[Item(c="x" * 60_000, d=[1]) for _ in range(3)]),
    ]
    for model in models:
        for kwargs in (*KWARGS, {"exclude": {"a", "c"}}, {"exclude": {"a": {0}, "items": {"__all__": {"a"}}}}):
            calls.clear()
            outcome = assert_same(model, **kwargs)
            if outcome.error is None:  # called as often, and on the same values, by the oracle and by each of ours
                assert repeated([repr(call)[:60] for call in calls]), (model, kwargs)


def test_exclude_if_of_odd_answers() -> None:
    def failing(value: Any) -> bool:
        raise ValueError("no answer")

    for answer in (lambda value: value, lambda value: [], lambda value: "yes", lambda value: None, failing):

        class Odd(BaseModel):
            a: int = Field(0, exclude_if=answer)
            b: list[int] = Field([], exclude_if=answer)
            c: zoo.Color = Field(zoo.Color.RED, exclude_if=answer)

        for model in (Odd(), Odd(a=1, b=[1])):
            assert_same(model)
            assert_same(zoo.AnyRoot([model]))
            assert_same(zoo.LeafMap.model_construct({"k": model}))


@pytest.mark.parametrize(
    "kwargs",
    [
        {"by_alias": 1}, {"by_alias": "yes"}, {"exclude_none": 1}, {"exclude_none": None},
        {"exclude_unset": "yes"}, {"warnings": "bogus"}, {"warnings": None},
        {"warnings": 1}, {"fallback": 5}, {"round_trip": 1}, {"serialize_as_any": None},
        {"exclude_defaults": []}, {"exclude_computed_fields": 0}, {"context": object},
    ],
    ids=stable_id,
)  # fmt: skip
def test_odd_flags(kwargs: dict[str, Any]) -> None:
    assert_same(zoo.Leaf(), **kwargs)
    assert_same(zoo.Computed(x=zoo.Color.RED), **kwargs)


def test_serializers_of_changed_fields_see_the_whole_instance() -> None:
    class Seeing(BaseModel):
        a: int = 1
        b: int = 2

        @field_serializer("a")
        def _a(self, value: int) -> int:
            self.__dict__["b"] = 9
            return value

        @field_serializer("b")
        def _b(self, value: int) -> Any:
            return [value, self.a]

    assert_same(Seeing)
