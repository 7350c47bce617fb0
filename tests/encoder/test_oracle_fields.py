"""Which fields are written, in which order, and from where their values come (families 9 and 10)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import functools
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, computed_field, field_serializer

from encoder.encode import to_json
from encoder.errors import EncodeError
from encoder.paths import PATHS
from tests.encoder import zoo
from tests.encoder.oracle import assert_same
from tests.naming import stable_id

KWARGS: list[dict[str, Any]] = [
    {},
    {"exclude_none": True},
    {"exclude_unset": True},
    {"exclude_defaults": True},
    {"by_alias": True},
    {"round_trip": True},
    {"exclude_computed_fields": True},
    {"exclude_none": True, "exclude_unset": True, "by_alias": True},
    {"exclude_none": True, "exclude": {"b": {"a"}, "c": {0}}},
    {"include": {"a", "b", "x1", "d"}},
    {"serialize_as_any": True},
]


class Fields(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1
    b: zoo.Leaf | None = None
    c: list[zoo.Leaf] = []
    d: Any = None
    e: str = Field("e", alias="E")
    f: float = Field(1.5, exclude=True)
    g: list[int] = Field([], exclude_if=lambda value: not value)

    @computed_field
    @property
    def h(self) -> int | None:
        return self.__dict__.get("a")

    @computed_field(alias="Eye")
    @property
    def i(self) -> list[Any]:
        return [zoo.LeafChild(), self.d]


def everything(model: BaseModel) -> None:
    """Compare a model alone, as a member and under Any, with every keyword."""

    class Parent(BaseModel):
        one: Fields
        many: list[Fields]
        named: dict[str, Fields]
        maybe: Fields | None
        union: Fields | int

    parent = Parent.model_construct(one=model, many=[model, Fields()], named={"k": model}, maybe=model, union=model)
    for kwargs in KWARGS:
        assert_same(model, **kwargs)
        assert_same(zoo.AnyRoot([model]), **kwargs)
        assert_same(parent, **kwargs)


def test_as_constructed() -> None:
    everything(Fields())
    everything(Fields(a=1, E="x", c=[zoo.LeafChild(), zoo.Leaf(b=None)], d={"a": None}, x1=None, x2=[None], g=[1]))
    everything(Fields.model_construct(a=None, b="wrong", c=None, d=zoo.Leaf(), g=(1,)))
    everything(Fields.model_construct({"a", "x1"}, x1=1))


def test_moved_deleted_and_stray_attributes() -> None:
    moved = Fields(d=1)
    moved.__dict__["a"] = moved.__dict__.pop("a")
    everything(moved)
    deleted = Fields()
    del deleted.__dict__["a"], deleted.__dict__["d"]
    everything(deleted)
    emptied = Fields()
    emptied.__dict__.clear()
    everything(emptied)
    stray = Fields()
    stray.__dict__["stray"] = object()
    everything(stray)
    reversed_ = Fields(d=2)
    items = list(reversed_.__dict__.items())
    reversed_.__dict__.clear()
    reversed_.__dict__.update(reversed(items))
    everything(reversed_)


@pytest.mark.parametrize("key", [5, None, "\ud800", b"x", ("a",)], ids=stable_id)
def test_keys_of_the_instance_that_are_no_names(key: Any) -> None:
    for value in (1, object()):
        model = Fields()
        model.__dict__[key] = value
        everything(model)
        model = Fields()
        assert model.__pydantic_extra__ is not None
        model.__pydantic_extra__[key] = value
        everything(model)


@pytest.mark.parametrize("key", [5, "\ud800", "stray"], ids=stable_id)
def test_keys_of_small_instances_that_are_no_names(key: Any) -> None:
    leaf = zoo.Leaf()
    leaf.__dict__[key] = 1
    assert (assert_same(leaf).error is None) == (key == "stray")
    assert_same(zoo.LeafMap({"k": leaf}))
    assert_same(zoo.Tree(a=leaf))
    assert_same(zoo.Tree(a=[zoo.Leaf(), leaf]))


def test_missing_and_stray_at_once_in_unions() -> None:
    class Parent(BaseModel):
        pet: zoo.Pet
        called: zoo.CalledPet
        leaf: str | list[zoo.Leaf]
        maybe: zoo.Leaf | str | None
        pets: list[zoo.Pet]

    def tampered(model: BaseModel, missing: str, *, stray: bool) -> Any:
        del model.__dict__[missing]
        if stray:
            model.__dict__["stray"] = 1
        return model

    for stray in (False, True):
        for missing in ("a", "kind"):
            cat = tampered(zoo.Cat(), missing, stray=stray)
            dog = tampered(zoo.Dog(b=[zoo.Cat()]), missing, stray=stray)
            outer = zoo.Dog.model_construct(b=[cat, dog])
            for kwargs in (
                {},
                {"exclude_none": True},
                {"exclude_unset": True},
                {"warnings": "error"},
                {"exclude": {"pet": {"z"}}},
            ):
                assert_same(Parent.model_construct(pet=cat, called=cat, pets=[dog, cat, outer]), **kwargs)
                assert_same(Parent.model_construct(pet=outer), **kwargs)
                assert_same(zoo.Dog.model_construct(b=[outer]), **kwargs)
        leaf = tampered(zoo.Leaf(), "a", stray=stray)
        for kwargs in ({}, {"warnings": "error"}, {"exclude_none": True}):
            assert_same(Parent.model_construct(leaf=[leaf]), **kwargs)
            assert_same(Parent.model_construct(maybe=leaf), **kwargs)
            assert_same(Parent.model_construct(leaf=[zoo.Leaf(), zoo.Leaf.model_construct(a="wrong")]), **kwargs)


def test_extras_of_a_class_that_takes_none() -> None:
    for cls in (zoo.Leaf, zoo.Seen, zoo.Tree, zoo.Cat):
        for extras in ({"k": 1}, {"k": 1, "a": 2}):
            model = cls()
            object.__setattr__(model, "__pydantic_extra__", extras)
            assert_same(model)
            assert_same(zoo.AnyRoot([model]))
            assert_same(zoo.LeafMap.model_construct({"k": model}))
            assert_same(zoo.Tree.model_construct(kids=[model]))
    loose = zoo.Loose()
    object.__setattr__(loose, "__pydantic_extra__", None)
    assert_same(loose)


def test_typed_extras() -> None:
    model = zoo.TypedLoose(x1=5)
    assert model.__pydantic_extra__ is not None
    model.__pydantic_extra__.update({"x2": True, "x3": "wrong", "x4": None, "x5": zoo.LeafChild()})
    for kwargs in KWARGS:
        assert_same(model, **kwargs)
        assert_same(zoo.AnyRoot({"k": model}), **kwargs)


def test_cached_properties_and_private_attributes() -> None:
    class Cached(BaseModel):
        a: int = 1
        _private: int = PrivateAttr(5)

        @functools.cached_property
        def plain(self) -> int:
            return 7

        @computed_field
        @functools.cached_property
        def computed(self) -> list[int]:
            return [8, True]

    model = Cached()
    assert (model.plain, model.computed) == (7, [8, True])
    assert_same(model)
    assert_same(Cached)
    assert_same(model, exclude={"computed": {0}})


class Nothing(BaseModel):
    model_config = ConfigDict(extra="allow")
    root: RootModel[int | None] = RootModel[int | None](None)
    enum: zoo.Color = zoo.Color.NOTHING
    table: dict[str, int | None] = {"a": None}
    items: list[int | None] = [None]
    none: int | None = None
    any: Any = None
    nan: float = float("nan")
    serialized: int = 1
    unserialized: int | None = None
    point: zoo.Point = zoo.Point(a=1, b=None)
    rich: zoo.Rich = zoo.Rich(b=None)
    entry: zoo.Entry = {"a": 1, "b": None}
    anypoint: Any = zoo.Point(b=None)
    pair: zoo.Pair = zoo.Pair(1, None)
    leaves: list[zoo.Leaf | None] = [zoo.Leaf(), None]
    maybe: zoo.MaybeRoot | None = zoo.MaybeRoot(None)

    @field_serializer("serialized", "unserialized")
    def _s(self, value: Any) -> Any:
        return None if value else 5

    @computed_field
    @property
    def computed(self) -> int | None:
        return None

    @computed_field
    @property
    def nanny(self) -> Any:
        return {"a": None, "n": float("nan")}


@pytest.mark.parametrize("kwargs", KWARGS, ids=stable_id)
def test_nothing_of_every_kind(kwargs: dict[str, Any]) -> None:
    assert_same(Nothing(x1=None, x2=[None], x3={"a": None}, x4=zoo.Leaf()), **kwargs)
    assert_same(zoo.AnyRoot([Nothing(x1=None)]), **kwargs)


class Broken(Exception):
    pass


@pytest.mark.parametrize(
    "said", [True, False, np.True_, np.False_, 0, 1, None, "", "yes", [1], Broken()], ids=stable_id
)
def test_what_an_exclude_if_may_say(said: Any) -> None:
    def condition(value: Any) -> Any:
        if isinstance(said, Broken):
            raise said
        return said

    class Left(BaseModel):
        a: int = Field(1, exclude_if=condition)
        b: str = Field("x" * 50_000, exclude_if=condition)
        c: Any = Field(zoo.Color.RED, exclude_if=condition)

    for model in (Left(), zoo.AnyRoot([Left(), Left()]), zoo.Tree(a=Left())):
        outcome = assert_same(model)
        assert (outcome.error is None) == isinstance(said, bool | np.bool_)
    if outcome.error and PATHS.plans:
        with pytest.raises(EncodeError) as caught:
            to_json(Left())
        assert caught.value.path == "$.a"
        assert type(caught.value.__cause__) is type(outcome.error)
