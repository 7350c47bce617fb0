"""Every species of model, by itself and inside of others."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import dataclasses
import datetime as dt
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    PrivateAttr,
    RootModel,
    create_model,
    field_validator,
    model_validator,
)
from typing_extensions import TypeAliasType

from encoder.plan import plan_of
from tests.encoder import values, zoo
from tests.encoder.oracle import assert_same

SPECIES: list[values.Make] = [
    zoo.Leaf, zoo.LeafChild, zoo.Seen, zoo.Cat, zoo.Dog, zoo.Loose, zoo.TypedLoose, zoo.Aliased, zoo.ByAlias,
    lambda: zoo.Hexed(b=b"\xff"), zoo.Computed, zoo.Hidden, zoo.PlainModel, zoo.WrapModel,
    zoo.TextModel, lambda: zoo.Tree(kids=[zoo.Tree()]), lambda: zoo.Box[int](a=1),
    lambda: zoo.Box[zoo.Box[int]](a=zoo.Box[int](a=1)), lambda: zoo.Box(a={"k": zoo.LeafChild()}),
    lambda: zoo.IntList([1]), lambda: zoo.AnyRoot(None), lambda: zoo.LeafMap({"k": zoo.LeafChild()}),
    lambda: zoo.MaybeRoot(None), zoo.Frozen, lambda: RootModel[str]("x" * 100_000),
    lambda: RootModel[zoo.Leaf](zoo.LeafChild()),
    lambda: RootModel[RootModel[list[zoo.Leaf]]](RootModel[list[zoo.Leaf]]([zoo.LeafChild()])),
    lambda: RootModel[zoo.Pet](zoo.Dog()),
    lambda: RootModel[tuple[int, str]]((1, "a")), lambda: RootModel[dt.datetime](dt.datetime(2020, 1, 1)),
    lambda: RootModel[list[int]](list(range(9000))), lambda: RootModel[float](float("nan")),
]  # fmt: skip


@pytest.mark.parametrize("make", SPECIES, ids=[str(number) for number in range(len(SPECIES))])
def test_species(make: values.Make) -> None:
    for kwargs in (
        {},
        {"by_alias": True},
        {"exclude_none": True},
        {"exclude_unset": True},
        {"exclude_defaults": True},
        {"round_trip": True},
        {"serialize_as_any": True},
    ):
        assert_same(make, **kwargs)
        for holder in (
            lambda: zoo.AnyRoot([make(), {"k": make()}]),
            lambda: zoo.Loose(x=make()),
            lambda: zoo.Tree.model_construct(kids=[make()], next=make()),
        ):
            assert_same(holder, **kwargs)


def test_models_of_every_build() -> None:  # noqa: C901 - many small classes
    class Slots(BaseModel):
        __slots__ = ("extra_slot",)
        a: int = 1

    class Private(BaseModel):
        a: int = 1
        _b: int = PrivateAttr(5)
        constant: ClassVar[int] = 7

    class Validated(BaseModel):
        a: int = 1
        b: list[int] = []

        @field_validator("a")
        @classmethod
        def _a(cls, value: int) -> Any:
            return str(value)

        @model_validator(mode="after")
        def _after(self) -> "Validated":
            return self

        @model_validator(mode="wrap")
        @classmethod
        def _wrap(cls, value: Any, handler: Any) -> Any:
            return handler(value)

    class Initialized(BaseModel):
        a: int

        def __init__(self, a: int) -> None:
            super().__init__(a=a + 1)

        def model_post_init(self, context: Any) -> None:
            self.__dict__["post"] = 1

    class Attributed(BaseModel):
        a: int = 1

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name)

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("never compared")

        def __bool__(self) -> bool:
            raise RuntimeError("never asked")

        def __iter__(self) -> Any:
            raise RuntimeError("never iterated")

        def __len__(self) -> int:
            raise RuntimeError("never measured")

    class Holder(BaseModel):
        many: list[Any] = [Slots(), Private(), Validated(a=5), Initialized(1), Attributed()]
        slots: Slots = Slots()
        private: Private = Private()
        validated: Validated = Validated(a=1)
        initialized: Initialized = Initialized(5)
        attributed: Attributed = Attributed()
        attributeds: list[Attributed] = [Attributed()]
        maybe: Attributed | None = Attributed()

    for kwargs in (
        {},
        {"exclude_none": True},
        {"exclude_unset": True},
        {"exclude": {"slots": {"a"}, "validated": True}},
    ):
        assert_same(Holder, **kwargs)
    for model in (Slots(), Private(), Validated(a=3), Initialized(1), Attributed()):
        assert_same(model)


def test_inheritance() -> None:
    class Mixin:
        z: int = 5

    class Base(BaseModel):
        a: int = 1
        b: str = "b"

    class Reordered(Mixin, Base):
        b: int = 2
        c: int = 3
        a: str = "a"

    class Grand(Reordered):
        model_config = ConfigDict(extra="allow")
        d: Base = Base()

    class Holder(BaseModel):
        bases: list[Base]
        base: Base

    for value in (Base(), Reordered(), Grand(x=1)):
        assert_same(value)
        assert_same(Holder(bases=[value, Base()], base=value))


U = TypeVar("U", bound=zoo.Leaf)


V = TypeVar("V", default=int) if hasattr(TypeVar, "default") else TypeVar("V")


class Two(BaseModel, Generic[U, zoo.T]):
    a: U
    b: list[zoo.T]
    c: "Two[U, zoo.T] | None" = None


def test_generics() -> None:
    leaf, child = zoo.Leaf(), zoo.LeafChild(a=3)
    for cls in (
        Two,
        Two[zoo.Leaf, int],
        Two[zoo.LeafChild, Any],
        Two[zoo.Leaf, zoo.Box[int]],
        Two[zoo.Leaf, zoo.Leaf | None],
    ):
        for model in (
            cls.model_construct(a=child, b=[1, True, None, child]),
            cls.model_construct(a=leaf, b=[], c=cls.model_construct(a=child, b=[zoo.Box[int](a=1)])),
        ):
            assert_same(model)
            assert_same(zoo.AnyRoot([model]))
            holder = create_model("Holder", x=(cls, ...), xs=(list[cls], []))
            assert_same(holder.model_construct(x=model, xs=[model, Two.model_construct(a=child, b=[1])]))


def test_dataclasses() -> None:
    @dataclasses.dataclass
    class Odd:
        b: int = 1
        a: list[zoo.Leaf] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=5, repr=False)
        counter: ClassVar[int] = 3

        @property
        def prop(self) -> int:
            return 1

    class Holder(BaseModel):
        odd: Odd
        odds: list[Odd]
        named: dict[str, Odd]
        any: Any = None

    odd = Odd(a=[zoo.LeafChild()])
    odd.stray = 1
    odd.__dict__["b"] = odd.__dict__.pop("b")
    missing = Odd()
    del missing.__dict__["hidden"]
    for value in (odd, missing, Odd()):
        holder = Holder.model_construct(odd=value, odds=[value], named={"k": value}, any=value)
        for kwargs in (
            {},
            {"exclude_none": True},
            {"exclude_defaults": True},
            {"exclude": {"odd": {"b"}, "any": {"a"}}},
        ):
            assert_same(holder, **kwargs)


Lists = TypeAliasType("Lists", "list[Lists]")
Tables = TypeAliasType("Tables", "dict[str, Tables]")
Values = TypeAliasType("Values", "list[Values] | str | None")
Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | float | bool | None")
Branches = TypeAliasType("Branches", "list[Branching]")


class Branching(BaseModel):
    name: str = "n"
    branches: Branches = []


class Aliases(BaseModel):
    lists: Lists = []
    tables: Tables = {}
    values: Values = None
    json_: Json = None
    branches: Branches = []


@pytest.mark.parametrize("size", [0, 1, 40, 300])
def test_aliases_that_hold_themselves(size: int) -> None:
    model = Aliases(
        lists=[[[]], []] * size,
        tables={str(name): {"k": {}} for name in range(size)},
        values=["text", None, ["more", []]] * size,
        json_={"k": [1, 2.5, True, None, {"text": ["\u00e9"]}] * size},
        branches=[Branching(branches=[Branching()])] * size,
    )
    assert assert_same(model).error is None
    assert_same(model, exclude={"lists": {0}})
    assert_same(Aliases.model_construct(lists=[[1], (2,)] * size, values=[1, b"x"] * size, tables={"a": {1: 2}}))


@pytest.mark.planned
def test_an_alias_that_holds_itself_does_not_keep_its_models_from_being_written_by_plan() -> None:
    plan = plan_of(Branching)
    assert plan is not None
    (branches,) = plan.plan.fields["branches"].writer.children()
    assert branches is plan
