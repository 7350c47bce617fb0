"""Nested include and exclude specs: indices, `__all__`, odd values, on every kind of container (families 1 to 3)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tests.encoder import zoo
from tests.encoder.oracle import assert_same
from tests.encoder.specs import specs
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id


class Holder(BaseModel):
    """One field of every kind of container."""

    model_config = ConfigDict(extra="allow")

    a: int = 1
    empty: list[int] = []
    ints: list[int] = [10, 11, 12]
    floats: list[float] = [0.5, 1.5, 2.5]
    names: dict[str, int] = {"a": 1, "b": 2, "-1": 3}
    numbered: dict[int, str] = {0: "zero", 1: "one", -1: "minus"}
    leaf: zoo.Leaf = zoo.Leaf()
    leaves: list[zoo.Leaf] = [zoo.Leaf(a=0), zoo.LeafChild(a=1), zoo.Leaf(a=2)]
    pets: list[zoo.Pet] = [zoo.Cat(), zoo.Dog(b=[zoo.Cat(), zoo.DogChild()])]
    matrix: list[list[int]] = [[1, 2], [3, 4, 5], []]
    named: dict[str, zoo.Leaf] = {"a": zoo.Leaf(), "b": zoo.LeafChild()}
    pair: tuple[int, zoo.Leaf] = (1, zoo.Leaf())
    many: tuple[zoo.Leaf, ...] = (zoo.Leaf(), zoo.LeafChild())
    some: set[int] = {5}
    seq: Sequence[zoo.Leaf] = [zoo.Leaf(), zoo.Leaf(a=2)]
    mapping: Mapping[str, zoo.Leaf] = {"a": zoo.Leaf()}
    any: Any = {"a": [zoo.Leaf(), {"a": 1, "b": 2}], "b": (1, 2, 3), "k": {"a": 1}}
    anylist: Any = [zoo.LeafChild(), [1, 2], {"a": 1}, 5]
    seen: zoo.Seen = zoo.Seen(c={"a": 1, "b": zoo.Leaf()})
    seens: list[zoo.Seen] = [zoo.Seen(), zoo.SeenChild(c={"a": 1})]
    box: zoo.Box[zoo.Leaf] = zoo.Box[zoo.Leaf](a=zoo.Leaf(), b=[zoo.Leaf()])
    root: zoo.IntList = zoo.IntList([1, 2, 3])
    leafmap: zoo.LeafMap = zoo.LeafMap({"a": zoo.Leaf(), "b": zoo.LeafChild()})
    point: zoo.Point = zoo.Point(b={"a": 1, "b": 2})
    rich: zoo.Rich = zoo.Rich(A=2, c=[zoo.Leaf()])
    entry: zoo.Entry = {"a": 1, "b": zoo.Leaf()}
    couple: zoo.Pair = zoo.Pair(1, {"a": 2})
    aliased: zoo.Aliased = Field(zoo.Aliased(), alias="ALIASED")
    computed: zoo.Computed = zoo.Computed(x1=1)
    tree: zoo.Tree = zoo.Tree(kids=[zoo.Tree(a=[1, 2]), zoo.Tree()], named={"a": zoo.Tree(a=1)})
    plain: zoo.PlainModel = zoo.PlainModel()
    wrap: zoo.WrapModel = zoo.WrapModel(b=zoo.Leaf())
    union: zoo.Leaf | list[zoo.Leaf] | int = [zoo.Leaf(), zoo.LeafChild()]
    optional: list[zoo.Leaf] | None = [zoo.Leaf(), zoo.Leaf()]


def holder() -> Holder:
    return Holder(x1={"a": 1, "b": [1, 2]}, x2=zoo.LeafChild(), x3=[zoo.Leaf(), zoo.Leaf()])


FIELDS = [*Holder.model_fields, "x1", "x2", "x3", "ALIASED"]
VALUES: list[Any] = [
    None, True, False, ..., 0, 1, 2.5, "a", "", "__all__", {}, set(), [], (), frozenset(),
    {"a"}, {0}, {-1}, {5}, {-4}, {"0"}, {True}, {None}, {0.0}, {0, "a"}, {"__all__"},
    ["a"], [0], [-1], [5], ["__all__"], (0, "a"), frozenset({"a", 0}), frozenset({-1}),
    frozenset({"__all__"}),
    {"a": True}, {"a": False}, {"a": None}, {"a": {"b"}}, {"a": {}}, {"a": ...}, {"a": "b"},
    {"b": {0: {"a"}}}, {"b": {-1}},
    {0: True}, {0: False}, {0: None}, {0: {}}, {0: {"a"}}, {-1: {"a"}}, {5: {"a"}}, {-1: {"a"}, 2: {"b"}},
    {0: {"a"}, -3: {"b"}}, {-3: {"a"}, 0: {"b"}},
    {1: {0}}, {1: {-1}}, {1: {"b": {0: {"kind"}}}}, {"__all__": True}, {"__all__": False}, {"__all__": None},
    {"__all__": {"a"}}, {"__all__": {0}},
    {"__all__": {"a"}, 0: {"b"}}, {"__all__": {"a"}, 0: True}, {"__all__": True, 0: {"b"}}, {"__all__": ...,
    0: {"b"}}, {"__all__": {"a"}, 0: ...},
    {"__all__": {"a"}, -1: {"b"}}, {"__all__": {"a"}, 0: None}, {"__all__": {"a"}, 0: False},
    {"__all__": {"a"}, 0: ["b"]}, {"__all__": {"a"}, 7: {"b"}},
    {"__all__": {"a": {"b"}}, 0: {"a": {"c"}}}, {"__all__": {"b": {0}}, 1: {"b": {"__all__": {"a"}}}},
    {"__all__": {"__all__"}, 0: {0}},
    {"__all__": set(), 0: {"a"}}, {"__all__": {"a"}, 0: set()}, {"__all__": {"a"}, "a": {"b"}}, {"c": {"a"}},
    {"c": {"__all__"}}, {"kids": {0: {"a": {0}}}},
    {"kids": {"__all__": {"kids"}}}, {"named": {"a": {"a"}}}, {"root": {0}},
    types.MappingProxyType({"a": True, 0: True}), {"a": 1, 0: 1}.keys(), range(2), object(),
]  # fmt: skip


@pytest.mark.parametrize("argument", ["include", "exclude"])
@pytest.mark.parametrize("field", FIELDS)
def test_every_spec_on_every_field(field: str, argument: str) -> None:
    model = holder()
    for value in VALUES:
        # The other fields stay out, so that the test is quick and a refusal is this field's.
        arguments = {argument: {field: value}}
        if argument == "exclude":
            arguments["include"] = {field}
        assert_same(model, **arguments)


@pytest.mark.parametrize("argument", ["include", "exclude"])
@pytest.mark.parametrize("value", VALUES, ids=stable_id)
def test_every_spec_at_the_top(value: Any, argument: str) -> None:
    for model in (
        zoo.Tree(a=zoo.Leaf(), kids=[zoo.Tree(a=1)]),
        zoo.Loose(x1={"a": 1}, b=zoo.LeafChild()),
        zoo.Computed(b=2),
        zoo.Seen(),
    ):
        assert_same(model, **{argument: value})
    for root in (
        zoo.IntList([1, 2, 3]),
        zoo.LeafMap({"a": zoo.Leaf()}),
        zoo.AnyRoot([zoo.Leaf(), {"a": 1}]),
        zoo.MaybeRoot(None),
    ):
        assert_same(root, **{argument: value})


@pytest.mark.parametrize(
    ("include", "exclude"),
    [
        ({"leaves": {0: {"a", "b"}}}, {"leaves": {0: {"a"}}}),
        ({"leaves": {"__all__": {"a"}}}, {"leaves": {0: {"a"}}}),
        ({"leaves": {0, 1}}, {"leaves": {-3}}),
        ({"leaves": {0, 1}}, {"leaves": {"__all__": {"b"}}}),
        ({"leaves"}, {"leaves": True}),
        ({"leaves": {}}, {"leaves": {0}}),
        ({"any": {"a": {0}}}, {"any": {"a": {0: {"a"}}}}),
        ({"seens": {0: {"c": {"a"}}}}, {"seens": {"__all__": {"c": {"b"}}}}),
        ({"x1": {"b"}, "x2": {"a"}}, {"x1": {"b": {0}}, "x2": {"z"}}),
        ({"__all__": {"a"}}, {"leaf": {"a"}}),
        ({"nope"}, {"nope"}),
        (set(), set()),
        ({"tree": {"kids": {0: {"a": {1}}}}}, {"tree": {"kids": {"__all__": {"kids"}}}}),
    ],
)
def test_both_at_once(include: Any, exclude: Any) -> None:
    assert_same(holder(), include=include, exclude=exclude)
    assert_same(holder(), include=include, exclude=exclude, exclude_none=True, by_alias=True, round_trip=True)


class Filtered(BaseModel):
    """The fields that the generated specs know."""

    a: list[zoo.Leaf] = [zoo.Leaf(), zoo.LeafChild(b="x"), zoo.Leaf(a=3)]
    b: zoo.Tree = zoo.Tree(
        a={"a": 1, "k": [1, 2, 3]}, kids=[zoo.Tree(a=[{"a": 1}]), zoo.Tree()], named={"k": zoo.Tree()}
    )
    c: dict[str, list[int]] = {"a": [1, 2, 3], "b": [], "k": [4]}
    d: Any = [{"a": 1, "b": [zoo.Leaf()]}, (1, zoo.LeafChild()), "text"]
    e: list[zoo.Pet] = [zoo.Dog(b=[zoo.Cat(), zoo.Dog(b=[zoo.Cat()])]), zoo.Cat()]
    f: list[zoo.Seen] = [zoo.Seen(), zoo.Seen(c={"a": 1})]
    k: zoo.Computed = zoo.Computed(x1=[1, 2], b=None)
    z: tuple[list[int], zoo.Rich] = ([1, 2], zoo.Rich(c=[zoo.Leaf()]))


FILTERED = Filtered()


@oracle_settings(250)
@given(st.none() | specs(), st.none() | specs(), st.booleans())
def test_generated_specs(include: Any, exclude: Any, exclude_none: bool) -> None:
    assert_same(FILTERED, include=include, exclude=exclude, exclude_none=exclude_none)


@oracle_settings(150)
@given(specs(oddity=0))
def test_generated_excludes(exclude: Any) -> None:
    assert_same(FILTERED, exclude=exclude)


class Lazy(BaseModel):
    a: Iterable[zoo.Leaf]
    b: Any


@pytest.mark.parametrize("value", VALUES, ids=stable_id)
def test_specs_on_generators(value: Any) -> None:
    def make() -> Lazy:
        return Lazy.model_construct(
            a=(zoo.Leaf(a=i) for i in range(3)), b=(item for item in ([1, 2], {"a": 1}, zoo.Leaf()))
        )

    for field in "ab":
        assert_same(make, exclude={field: value})
        assert_same(make, include={field: value})


@pytest.mark.parametrize("size", [2_000, 9_000])
def test_specs_on_long_lists(size: int) -> None:
    class Long(BaseModel):
        ints: list[int]
        leaves: list[zoo.Leaf]
        any: Any
        table: dict[str, int]

    model = Long(
        ints=list(range(size)),
        leaves=[zoo.Leaf(a=i) for i in range(size // 10)],
        any=[{"a": i} for i in range(size // 10)],
        table={str(i): i for i in range(size)},
    )
    for spec in (
        {0},
        {-1},
        {size - 1},
        {size},
        {size + 1},
        {3: True, -7: True},
        frozenset({size - 1, -1}),
        {"__all__"},
        {str(size - 1)},
    ):
        assert_same(model, exclude={"ints": spec, "table": spec})
        assert_same(model, include={"ints": spec, "table": spec})
    for spec in (
        {0: {"a"}},
        {-1: {"a"}},
        {"__all__": {"a"}},
        {"__all__": {"a"}, 1500: {"b"}},
        {size // 10 + 2: {"a"}, -5: True},
    ):
        assert_same(model, exclude={"leaves": spec, "any": spec, "ints": True, "table": True})
        assert_same(model, include={"leaves": spec, "any": spec})
