"""Dataclasses as fields: read attribute by attribute, where that is what pydantic does."""

import datetime
import enum
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import pydantic.dataclasses
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from tests.encoder.odd_dataclasses import Clash, Extra, Lazy, Told, Whole
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings

T = TypeVar("T")
KWARGS: list[dict[str, Any]] = [
    {},
    {"exclude_none": True},
    {"exclude_unset": True},
    {"exclude_defaults": True},
    {"by_alias": True},
    {"by_alias": False},
    {"round_trip": True},
    {"warnings": False},
    {"exclude": {"one": {"a"}, "many": {"__all__": {"b"}}}},
    {"include": {"one": {"a"}, "many": {0}, "named": True}},
]


@dataclass
class Point:
    a: int = 1
    b: float | None = None
    c: str = "c"
    d: list[int] = field(default_factory=list)


@dataclass
class Child(Point):
    e: int = 5


@dataclass(slots=True)
class Slotted:
    a: int = 1
    b: float | None = None


@dataclass(frozen=True, kw_only=True)
class Frozen:
    a: int = 1
    b: dict[str, Point] = field(default_factory=dict)


@dataclass
class Rare:
    b: Literal["x", "y"] | None = "x"
    a: Any = None
    start: InitVar[int] = 3
    count: ClassVar[int] = 4
    hidden: int = field(default=5, repr=False, init=False)


@pydantic.dataclasses.dataclass
class Aliased:
    a: int = Field(1, serialization_alias="A")
    b: float | None = Field(None, exclude=True)
    c: str = Field("c", alias="C")


@pydantic.dataclasses.dataclass(config=ConfigDict(serialize_by_alias=True))
class ByAlias:
    a: int = Field(1, serialization_alias="A")


@pydantic.dataclasses.dataclass(config=ConfigDict(ser_json_inf_nan="strings"))
class Strings:
    a: float = 1.0


@dataclass
class Tree:
    a: int = 1
    below: "list[Tree]" = field(default_factory=list)


class Leaf(BaseModel):
    x: int = 1
    point: "Holding | None" = None


@dataclass
class Holding:
    a: Leaf | None = None
    b: list[Leaf] = field(default_factory=list)


@dataclass
class Dated:
    at: datetime.datetime = datetime.datetime(2030, 1, 1)
    a: int = 1


@dataclass
class Box(Generic[T]):
    a: T


class Watched:
    """Reads attributes in its own way."""

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        return value + 1 if name == "a" else value


@dataclass
class Counted(Watched):
    a: int = 1


class Color(enum.IntEnum):
    RED = 1


def changed(instance: Any, **values: Any) -> Any:
    for name, value in values.items():
        object.__setattr__(instance, name, value)
    return instance


def without(instance: Any, name: str) -> Any:
    object.__delattr__(instance, name)
    return instance


def reordered(point: Point) -> Point:
    point.__dict__["a"] = point.__dict__.pop("a")
    return point


INSTANCES: dict[str, tuple[Any, Any]] = {
    "plain": (Point, Point()),
    "with values": (Point, Point(-5, 0.1, "é\x00", [1, 2])),
    "a subclass": (Point, Child()),
    "stray attributes": (Point, changed(Point(), e=1)),
    "another order": (Point, reordered(Point())),
    "not as declared": (Point, changed(Point(), a="1", b=1)),
    "of wrong kinds": (Point, changed(Point(), a=True, c=None, d=(1,))),
    "numpy": (Point, changed(Point(), a=np.int64(3), b=np.float64(0.5), d=np.array([1]))),
    "an enum": (Point, changed(Point(), a=Color.RED)),
    "not finite": (Point, Point(b=float("nan"))),
    "too large": (Point, Point(a=2**64)),
    "no text": (Point, Point(c="\ud800")),
    "a default for a missing one": (Point, without(Point(), "a")),
    "a missing one": (Point, without(Point(), "d")),
    "no instance": (Point, {"a": 1}),
    "None": (Point, None),
    "the class itself": (Point, Point),
    "long text": (Point, Point(c="c" * 50_000)),
    "long list": (Point, Point(d=list(range(20_000)))),
    "slots": (Slotted, Slotted(2, 0.5)),
    "an empty slot": (Slotted, without(Slotted(), "a")),
    "frozen": (Frozen, Frozen(b={"k": Point(), "é": Child()})),
    "rare": (Rare, Rare(None, {"a": [1]})),
    "another literal": (Rare, changed(Rare(), b="z")),
    "any model": (Rare, Rare("y", Leaf())),
    "any dataclass": (Rare, Rare("y", Point())),
    "aliases": (Aliased, Aliased(1, 0.5, "c")),
    "by alias": (ByAlias, ByAlias(1)),
    "other settings": (Strings, Strings(float("inf"))),
    "extra": (Extra, Extra(a=1, z=2)),  # type: ignore[call-arg]
    "one key twice": (Clash, Clash(1)),
    "a field's serializer": (Told, Told()),
    "a serializer": (Whole, Whole()),
    "trees": (Tree, Tree(below=[Tree(), Tree(below=[Tree()])])),
    "models": (Holding, Holding(Leaf(point=Holding(Leaf(), [Leaf()])), [Leaf(x=2)])),
    "dates": (Dated, Dated()),
    "generic": (Box[int], Box(1)),
    "generic, not as declared": (Box[int], Box("1")),
    "attributes of its own way": (Counted, Counted()),
    "attributes that are made up": (Lazy, Lazy()),
    "attributes made up for missing ones": (Lazy, without(Lazy(), "a")),
}


@pytest.mark.parametrize("name", list(INSTANCES))
@pytest.mark.parametrize("kwargs", KWARGS, ids=str)
def test_instances(name: str, kwargs: dict[str, Any]) -> None:
    cls, instance = INSTANCES[name]
    holder = create_model(
        "Holder",
        one=(cls, ...),
        many=(list[cls], []),  # type: ignore[valid-type]
        named=(dict[str, cls], {}),  # type: ignore[valid-type]
        maybe=(cls | None, None),
    )
    assert_same(
        holder.model_construct(one=instance, many=[instance] * 3, named={"k": instance}, maybe=instance), **kwargs
    )
    assert_same(holder.model_construct(one=instance, many=[Point(), instance, Point()], named={}, maybe=None), **kwargs)


@pytest.mark.parametrize("name", list(INSTANCES))
def test_roots(name: str) -> None:
    cls, instance = INSTANCES[name]
    count = 3 if name.startswith("long") else 300
    assert_same(RootModel[cls].model_construct(instance))  # type: ignore[valid-type]
    assert_same(RootModel[list[cls]].model_construct([instance] * count))  # type: ignore[valid-type]


@pytest.mark.parametrize("settings", [{"ser_json_inf_nan": "strings"}, {"serialize_by_alias": True}, {}], ids=str)
@pytest.mark.parametrize("cls", [Point, Aliased, ByAlias, Strings])
@pytest.mark.parametrize("by_alias", [None, True, False])
def test_settings_of_the_model_around(settings: Any, cls: Any, by_alias: bool | None) -> None:
    holder = create_model("Holder", __config__=settings, one=(cls, ...), many=(list[cls], []))
    instance = changed(cls(), b=float("inf")) if cls is Point else cls()
    assert_same(holder(one=instance, many=[instance]), by_alias=by_alias)


def test_one_that_holds_itself() -> None:
    tree = Tree()
    tree.below.append(tree)
    assert_same(RootModel[Tree].model_construct(tree))
    leaf = Leaf()
    leaf.point = Holding(leaf)
    assert_same(leaf)


@pytest.mark.parametrize("depth", [10, 84, 85, 126, 127, 128])
def test_depth(depth: int) -> None:
    leaf = Leaf()
    for _ in range(depth):
        leaf = Leaf(point=Holding(leaf))
    assert_same(leaf)


@pytest.mark.parametrize("kind", ["__set__", "__delete__", "neither"])
def test_code_that_reads_an_attribute_runs_once(kind: str) -> None:
    class Reading:
        def __init__(self) -> None:
            self.reads = 0

        def __get__(self, instance: object, owner: type) -> int:
            self.reads += instance is not None
            return self.reads

    if kind != "neither":
        setattr(Reading, kind, lambda self, instance, value=None: None)
    reading = Reading()

    @dataclass(init=False)
    class Meter:
        a: int
        b: Any = None

    Meter.a = reading  # type: ignore[assignment]

    def fresh() -> BaseModel:
        reading.reads = 0
        return RootModel[list[Meter]].model_construct([Meter(), Meter()])

    assert_same(fresh)


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([]))


@given(st.lists(st.tuples(values, values, values, st.lists(values, max_size=3)), max_size=20), st.booleans())
@oracle_settings(80)
def test_any_values(rows: list[tuple[Any, ...]], exclude_none: bool) -> None:
    points = [Point(*row) for row in rows]
    assert_same(RootModel[list[Point]].model_construct(points), exclude_none=exclude_none)
