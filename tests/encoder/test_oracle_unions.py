"""Unions: which member writes a value, and what happens when none fits (family 6)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from typing import Annotated, Any, Generic, Literal, TypeVar, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from tests.encoder import values, zoo
from tests.encoder.kinds import LEAVES, MODELS
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id

UNIONS: list[Any] = [
    int | str, str | int, float | int, int | float, bool | int, int | None, float | str | None,
    str | list[int], list[int] | str, list[float] | list[int], list[int] | list[float],
    str | list[zoo.Leaf], str | list[zoo.Pet], list[zoo.Leaf] | list[zoo.Seen], dict[str, int] | list[int],
    dict[str, int] | zoo.Leaf, zoo.Leaf | dict[str, Any],
    zoo.Leaf | zoo.LeafChild, zoo.LeafChild | zoo.Leaf, zoo.Leaf | zoo.Seen | None, zoo.Cat | zoo.Dog,
    zoo.Pet | None, zoo.Pet | str, zoo.Pet | zoo.Leaf, zoo.CalledPet | None,
    zoo.Leaf | int | str | None, zoo.WrapModel | zoo.PlainModel, zoo.Loose | zoo.Leaf, zoo.Point | zoo.Leaf,
    zoo.Entry | zoo.Leaf, Literal["a"] | int, Literal["a", "b"] | None,
    zoo.Color | str, zoo.Word | str, str | zoo.Word, bytes | str, str | bytes, list[str] | str,
    str | list[str | list[str]], list[list[int]] | None, list[Any] | str, list | str,
    str | list[Annotated[zoo.Pet, Field()]] | None, Any | int, zoo.IntList | int, zoo.Tree | int,
    zoo.Box[int] | zoo.Box[str], str | dict[str, Any] | list[Any],
]  # fmt: skip


def valued() -> list[values.Make]:
    """Values that fit one union or another, more or less."""
    return [
        *values.HARMLESS,
        lambda: ["a", "b"],
        lambda: [zoo.Leaf(), zoo.LeafChild()],
        lambda: [zoo.Cat(), zoo.Dog(b=[zoo.Cat()])],
        lambda: [zoo.Cat(), zoo.Leaf()],
        lambda: [zoo.Cat.model_construct(a="x")],
        lambda: [zoo.Dog.model_construct(b=[zoo.Cat.model_construct(a="x")])],
        lambda: [zoo.Leaf.model_construct(a=1.5)],
        lambda: zoo.Leaf.model_construct(a=1),
        lambda: "x" * 40_000,
        lambda: ["x" * 40_000],
        lambda: list(range(5000)),
        lambda: [*range(5000), "x"],
        lambda: [float(i) for i in range(5000)],
        lambda: [zoo.Leaf(a=i) for i in range(300)],
        lambda: [*(zoo.Cat(a=i) for i in range(200)), zoo.Cat.model_construct(kind="x")],
    ]


@pytest.mark.parametrize("union", UNIONS, ids=stable_id)
def test_every_value_under_every_union(union: Any) -> None:
    cls = create_model(
        "United", __config__=ConfigDict(arbitrary_types_allowed=True), a=(union, ...), b=(list[union], [])
    )
    for make in valued():
        assert_same(lambda make=make: cls.model_construct(a=make()))
    for make in values.HARMLESS[::2]:
        assert_same(lambda make=make: cls.model_construct(a=None, b=[make(), None]), warnings="error")
    for make in values.HARMLESS[1::2]:
        assert_same(
            lambda make=make: cls.model_construct(a=make(), b=[make()]),
            exclude={"a": {"a": True, 0: {"a"}}, "b": {0: {"a"}}},
            exclude_none=True,
        )


@pytest.mark.parametrize("union", UNIONS[:20], ids=stable_id)
def test_what_is_refused(union: Any) -> None:
    cls = create_model("United", __config__=ConfigDict(arbitrary_types_allowed=True), a=(union, ...))
    for make in values.REFUSED:
        assert_same(lambda make=make: cls.model_construct(a=make()))
        assert_same(lambda make=make: cls.model_construct(a=[make()]))


class Nested(BaseModel):
    kind: Literal["nested"] = "nested"
    leaf: zoo.Leaf = zoo.Leaf()
    number: int = 1
    pets: list[zoo.Pet] = []
    any: Any = None


class Numbered(BaseModel):
    kind: Literal[1, 2] = 1
    a: int = 1


class Worded(BaseModel):
    kind: Literal[zoo.Word.YES] = zoo.Word.YES
    a: int = 1


class Renamed(BaseModel):
    kind: Literal["renamed"] = Field("renamed", alias="type")
    a: int = 1


class First(BaseModel):
    kind: Literal["a", "b"] = "a"
    x: int = 1


class Second(BaseModel):
    kind: Literal["c"] = "c"
    x: float = 1.0


TaggedT = TypeVar("TaggedT", First, Second)


class Generics(BaseModel, Generic[TaggedT]):
    a: Annotated[First | Second, Field(discriminator="kind")]
    b: TaggedT


TAGGED: list[Any] = [
    Annotated[zoo.Cat | Nested, Field(discriminator="kind")],
    Annotated[zoo.Cat | Numbered, Field(discriminator="kind")],
    Annotated[First | Second, Field(discriminator="kind")],
    Annotated[First | Annotated[zoo.Cat | zoo.Dog, Field(discriminator="kind")], Field(discriminator="kind")],
    Annotated[Annotated[First, Tag("a")] | Annotated[Second, Tag("c")], Discriminator(zoo.species)],
    Annotated[First | Second, Field(discriminator="kind")] | None,
    Annotated[First | Second, Field(discriminator="kind")] | str,
]


@pytest.mark.parametrize("tagged", TAGGED, ids=range(len(TAGGED)))
def test_tagged_unions(tagged: Any) -> None:
    cls = create_model("Tagged", a=(tagged, None), b=(list[tagged], []), c=(dict[str, tagged], {}))
    makes = [
        zoo.Cat, Nested, Numbered, Worded, First, Second, lambda: First(kind="b"), lambda: Numbered(kind=2),
        zoo.DogChild, zoo.Dog, zoo.Leaf,
        lambda: First.model_construct(kind="c"), lambda: Second.model_construct(kind="a"),
        lambda: First.model_construct(kind="zz"), lambda: First.model_construct(kind=None),
        lambda: First.model_construct(kind=["a"]), lambda: First.model_construct(x="wrong"),
        lambda: Second.model_construct(x=1), lambda: Second.model_construct(x=True),
        lambda: Nested.model_construct(leaf=zoo.LeafChild()),
        lambda: Nested.model_construct(leaf=zoo.Leaf.model_construct(a="wrong")),
        lambda: Nested.model_construct(leaf=5),
        lambda: Nested.model_construct(number="wrong", pets=[zoo.Dog(b=[zoo.DogChild()])]),
        lambda: Nested(any=zoo.Color.RED), lambda: Nested(any=[zoo.LeafChild()], pets=[zoo.Cat()]),
        lambda: Numbered.model_construct(kind=True), lambda: Numbered.model_construct(kind=1.0),
        lambda: {"kind": "a", "x": 5}, lambda: {"kind": "cat"}, lambda: {"x": 1}, dict, lambda: None,
        lambda: "text", lambda: 5,
    ]  # fmt: skip
    for make in makes:
        for kwargs in (
            {},
            {"exclude_none": True},
            {"exclude_unset": True},
            {"warnings": "error"},
            {"exclude": {"a": {"kind"}, "b": {0: {"x"}}}},
        ):
            assert_same(lambda make=make: cls.model_construct(a=make(), b=[make(), make()], c={"k": make()}), **kwargs)


def test_tags_by_alias_and_by_enum() -> None:
    for union in (
        Annotated[Renamed | BaseAliased, Field(discriminator="kind")],
        Annotated[Worded | First, Field(discriminator="kind")],
    ):
        cls = create_model("Tagged", a=(union, None), b=(list[union], []))
        for make in (
            lambda: Renamed(type="renamed"),
            BaseAliased,
            Worded,
            First,
            lambda: Worded.model_construct(kind="yes"),
        ):
            for by_alias in (None, True):
                assert_same(lambda cls=cls, make=make: cls.model_construct(a=make(), b=[make()]), by_alias=by_alias)


class BaseAliased(BaseModel):
    kind: Literal["aliased"] = Field("aliased", alias="type")


def test_missing_fields_inside_members() -> None:
    """A member that lacks a declared field does not fit; nor does what holds such a one."""
    cls = create_model(
        "United",
        a=(Annotated[zoo.Cat | Nested, Field(discriminator="kind")], None),
        b=(str | list[Nested], None),
        c=(Nested | str, None),
    )

    def lacking() -> Nested:
        leaf = zoo.Leaf()
        del leaf.__dict__["b"]
        return Nested.model_construct(leaf=leaf)

    for kwargs in ({}, {"exclude_none": True}, {"warnings": "error"}, {"exclude": {"a": {"any"}}}):
        assert_same(lambda: cls.model_construct(a=lacking()), **kwargs)
        assert_same(lambda: cls.model_construct(b=[lacking()]), **kwargs)
        assert_same(lambda: cls.model_construct(c=lacking()), **kwargs)
        assert_same(lambda: cls.model_construct(a=Nested(any=lacking())), **kwargs)
        assert_same(lambda: cls.model_construct(a=Nested(pets=[zoo.Cat.model_construct(a=None)])), **kwargs)


@oracle_settings(80)
@given(
    st.lists(st.sampled_from([*LEAVES[:12], *MODELS]), min_size=2, max_size=4),
    st.lists(values.junk, max_size=4),
    st.data(),
)
def test_generated_unions(kinds: list[Any], junk: list[values.Make], data: st.DataObject) -> None:
    union = Union[tuple(kind.annotation for kind in kinds)]  # noqa: UP007 - an annotation may be None
    cls = create_model(
        "United", __config__=ConfigDict(arbitrary_types_allowed=True), a=(union, None), b=(list[union], [])
    )
    makes = [*junk, *(data.draw(kind.makes) for kind in kinds)]
    assert_same(lambda: cls.model_construct(b=[make() for make in makes]))
    for make in makes:
        assert_same(lambda make=make: cls.model_construct(a=make()))
