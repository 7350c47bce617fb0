"""Serializers of the user's: what they see, how often and in which order they run (family 15)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    RootModel,
    WrapSerializer,
    computed_field,
    field_serializer,
)

from tests.encoder import zoo
from tests.encoder.oracle import assert_same, repeated
from tests.encoder.seen import facts
from tests.naming import stable_id

CALLS: list[str] = []


def called(name: str, value: Any) -> Any:
    """Note a call and pass the value on."""
    CALLS.append(f"{name}:{value!r:.40}")
    return value


class Item(BaseModel):
    x: int = 1
    y: list[int] = []

    @field_serializer("x")
    def _x(self, value: Any) -> Any:
        return called("item.x", value)

    @computed_field(repr=False)  # the text of a warning is no call that counts
    @property
    def z(self) -> int:
        return called("item.z", self.x)


class SubItem(Item):
    w: int = 5


class Other(BaseModel):
    w: int = 1

    @field_serializer("w", mode="wrap")
    def _w(self, value: Any, handler: Callable[[Any], Any]) -> Any:
        return called("other.w", handler(value))


Noted = Annotated[int, PlainSerializer(lambda value: called("noted", value))]
Wrapped = Annotated[list[int], WrapSerializer(lambda value, handler: called("wrapped", handler(value)))]


class Counted(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1
    b: str = "b"
    c: list[Item] = []
    d: Any = None
    e: Item | Other | int = 0
    f: list[Item | Other] = []
    g: list[Noted] = []
    h: dict[str, Item] = {}
    i: Wrapped = []
    j: int | None = None
    k: zoo.Color = zoo.Color.RED
    n: Noted = 0

    @field_serializer("a", "b", "j", "k", when_used="json-unless-none")
    def _all(self, value: Any, info: Any) -> Any:
        return called(info.field_name, value)

    @computed_field
    @property
    def calc(self) -> Any:
        return called("calc", [Item(x=7)])

    @computed_field
    @property
    def m(self) -> list[Item]:
        return called("m", [Item(x=8)])


def counted() -> Counted:
    return Counted(
        c=[Item(), Item(x=2)], d=[Item(x=3), {"k": Other()}], e=Other(), f=[Item(), Other(), Item(x=4)], g=[1,
        2, 3], h={"k": Item(), "l": Item(x=5)}, i=[1], j=2, x1=Item(x=6), x2=[Other()]
    )  # fmt: skip


@pytest.mark.parametrize(
    "kwargs",
    [
        {}, {"exclude_none": True}, {"exclude_unset": True}, {"exclude_defaults": True}, {"round_trip": True},
        {"exclude_computed_fields": True},
        {"exclude": {"calc", "a"}}, {"exclude": {"c": {0: {"z"}}, "m": {0: {"x"}}}},
        {"include": {"c": {1: {"x"}}, "m": True}}, {"exclude": {"calc": {0: {"z"}}}},
        {"include": {"b"}}, {"exclude": {"x1": {"x"}, "d": {0: {"z"}}, "h": {"k"}}},
        {"serialize_as_any": True}, {"warnings": False},
    ],
    ids=stable_id,
)  # fmt: skip
def test_calls_and_their_order(kwargs: dict[str, Any]) -> None:
    for make in (counted, lambda: zoo.AnyRoot([counted()]), lambda: RootModel[list[Counted]]([counted(), counted()])):
        CALLS.clear()
        outcome = assert_same(make, **kwargs)
        assert outcome.error is None
        assert repeated(CALLS)


def test_calls_on_values_that_do_not_fit() -> None:
    for build in (
        lambda: Counted.model_construct(
            a="x", c=[SubItem(), Item(x=1), 5], e=zoo.Leaf(), f=[zoo.Leaf(), Other()], h={1: Item()}, i=(1,), g=["x"]
        ),
        lambda: Counted.model_construct(
            e=Item.model_construct(y=["x"]), f=[Item.model_construct(x="x"), Item.model_construct(y=[True])]
        ),
        lambda: Counted.model_construct(c=(Item(), Other(), SubItem()), f=(Item(), Other()), e=[Item()]),
    ):
        CALLS.clear()
        assert assert_same(build).error is None
        assert repeated(CALLS)


def test_calls_on_long_lists() -> None:
    for size in (33, 500):
        CALLS.clear()
        assert_same(
            lambda size=size: Counted(
                c=[Item(x=i) for i in range(size)], f=[Item(x=i) for i in range(size)], g=list(range(size))
            )
        )
        assert repeated(CALLS)


INFOS: list[dict[str, Any]] = [
    {}, {"context": {"k": 1}}, {"context": "text"}, {"exclude_none": True}, {"exclude_unset": True},
    {"exclude_defaults": True}, {"by_alias": True}, {"by_alias": False},
    {"round_trip": True}, {"serialize_as_any": True}, {"exclude": {"b": {"z"}}}, {"include": {"b": {"z"},
    "c": {0}}}, {"exclude": {"b": {0: {"q"}}, "c": {"a": {"k"}}}},
    {"exclude": {"seen": {"b": {"q"}, "c": {"a"}}}}, {"exclude": {"seens": {0: {"b": {"q"}},
    "__all__": {"c": {"r"}}}}}, {"exclude": {"seens": {"__all__": {"b": {"q"}}}}},
    {"include": {"seens": {-1: {"b": {"q"}}}}}, {"exclude": {"named": {"k": {"b": {0}}}}},
    {"exclude": {"typed": {0: {"q"}}, "anns": {1: {"r"}}}}, {"include": {"typed": {0: {"q"}},
    "anns": {1: {"r"}}}},
    {"exclude": {"plain": {"a"}, "wrap": {"a": True, "b": {"a"}}}}, {"include": {"plain": {"a"},
    "wrap": {"b": {"a"}}}}, {"exclude": {"x1": {"b": {"q"}}, "computed": {"b": {"q"}}}},
    {"include": set()}, {"exclude": {}}, {"exclude": {"seen": {}}}, {"include": {"seen": {}}},
    {"include": {"seen": None}},
]  # fmt: skip


@pytest.mark.parametrize("kwargs", INFOS, ids=stable_id)
def test_what_they_see(kwargs: dict[str, Any]) -> None:
    class All(BaseModel):
        model_config = ConfigDict(extra="allow")
        b: Annotated[Any, PlainSerializer(lambda value, info: facts(info))] = 1
        c: Annotated[dict[str, Any], WrapSerializer(lambda value, handler, info: [handler(value), facts(info)])] = {
            "a": {"k": 1}
        }
        seen: zoo.Seen = zoo.Seen(c={"a": 1, "b": 2})
        seens: list[zoo.Seen] = [zoo.Seen(c={"a": 1}), zoo.SeenChild()]
        named: dict[str, zoo.Seen] = {"k": zoo.Seen()}
        typed: list[Annotated[Any, PlainSerializer(lambda value, info: facts(info))]] = [1, 2]
        anns: tuple[Annotated[Any, WrapSerializer(lambda value, handler, info: [handler(value), facts(info)])], ...] = (
            1,
            {"r": 1},
        )
        tables: dict[str, Annotated[int, PlainSerializer(lambda value, info: facts(info))]] = {"k": 1}
        union: Annotated[int, PlainSerializer(lambda value, info: facts(info))] | str = 5
        plain: zoo.PlainModel = zoo.PlainModel(b=zoo.Leaf())
        wrap: zoo.WrapModel = zoo.WrapModel(b=zoo.Leaf())
        wraps: list[zoo.WrapModel] = [zoo.WrapModel(), zoo.WrapModel(b=zoo.Leaf())]
        any: Any = [zoo.Seen(), zoo.WrapModel()]

        @computed_field
        @property
        def computed(self) -> zoo.Seen:
            return zoo.SeenChild()

        @computed_field
        @property
        def computed_any(self) -> Any:
            return [zoo.SeenChild()]

        @computed_field
        @property
        def computed_list(self) -> list[Annotated[Any, PlainSerializer(lambda value, info: facts(info))]]:
            return [1, 2]

    assert_same(All(x1=zoo.Seen(), x2=[zoo.Seen()]), **kwargs)
    assert_same(zoo.AnyRoot([All()]), **kwargs)
    assert_same(All().wrap, **kwargs)
    assert_same(All().plain, **kwargs)


@pytest.mark.parametrize("when_used", ["always", "json", "unless-none", "json-unless-none"])
@pytest.mark.parametrize("mode", ["plain", "wrap"])
def test_when_used(when_used: Any, mode: Any) -> None:
    def plain(self: Any, value: Any) -> Any:
        return f"<{value}>"

    def wrap(self: Any, value: Any, handler: Any) -> Any:
        return [handler(value)]

    class Model(BaseModel):
        a: int | None = None
        b: list[int] | None = [1]
        c: zoo.Leaf | None = zoo.Leaf()
        d: Any = None
        _ser = field_serializer("a", "b", "c", "d", mode=mode, when_used=when_used)(plain if mode == "plain" else wrap)

    for model in (Model(), Model(a=1, b=None, c=None, d=5), Model.model_construct(a="x", b=(1,), c=1)):
        for kwargs in ({}, {"exclude_none": True}, {"exclude": {"b": {0}, "c": {"a"}}}):
            assert_same(model, **kwargs)
            assert_same(zoo.AnyRoot([model]), **kwargs)
