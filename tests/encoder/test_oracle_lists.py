"""Items of containers: coercion, wrong containers, subclasses, slices (families 5, 6 and 8)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import collections
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, Optional, Self, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, PlainSerializer, SerializeAsAny, create_model

from tests.encoder import values, zoo
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id

BoundT = TypeVar("BoundT", bound=zoo.Leaf)


def type_name(value: Any) -> str:
    return type(value).__name__


ITEM_TYPES: list[Any] = [
    int, float, bool, str, bytes, Any, object, None, int | None, float | None, int | str, float | int,
    bool | int | float, str | list[int],
    Literal["text", 3, True], zoo.Color, zoo.Level, zoo.Word, list[int], list[float], dict[str, int],
    tuple[int, str], set[int],
    zoo.Leaf, zoo.Leaf | None, zoo.Leaf | zoo.Seen, zoo.Leaf | str, zoo.Pet, zoo.CalledPet,
    SerializeAsAny[zoo.Leaf], zoo.Seen, zoo.Loose,
    zoo.ByAlias, zoo.Hexed, zoo.Computed, zoo.Hidden, zoo.PlainModel, zoo.WrapModel, zoo.TextModel, zoo.Tree,
    zoo.Box[int], zoo.Box, zoo.IntList, zoo.AnyRoot,
    zoo.MaybeRoot, zoo.Point, zoo.Rich, zoo.Slotted, zoo.Pair, zoo.Entry, zoo.Frozen, Annotated[int,
    PlainSerializer(type_name)],
]  # fmt: skip


def holder(annotation: Any, **config: Any) -> type[BaseModel]:
    """A model with one field `a`."""
    return create_model("Holder", __config__=ConfigDict(arbitrary_types_allowed=True, **config), a=(annotation, ...))


@pytest.mark.parametrize("item_type", ITEM_TYPES, ids=stable_id)
@pytest.mark.parametrize("container", [list, dict, tuple, Optional], ids=stable_id)
def test_every_value_in_every_container(item_type: Any, container: Any) -> None:
    annotation = {
        list: list[item_type],
        dict: dict[str, item_type],
        tuple: tuple[item_type, ...],
        Optional: item_type | None if item_type is not None else None,
    }[container]
    wrap: Callable[[Any], Any] = {
        list: lambda item: [item],
        dict: lambda item: {"k": item},
        tuple: lambda item: (item,),
        Optional: lambda item: item,
    }[container]
    cls = holder(annotation)
    for make in values.HARMLESS:
        assert_same(lambda make=make: cls.model_construct(a=wrap(make())))


@pytest.mark.parametrize("item_type", [int, str, Any, zoo.Leaf, zoo.Pet, str | list[int]], ids=stable_id)
def test_what_is_refused(item_type: Any) -> None:
    for make in values.REFUSED:
        for annotation, value in [
            (item_type, make),
            (list[item_type], lambda make=make: [1, make()]),
            (dict[str, item_type], lambda make=make: {"k": "v", "x": make()}),
        ]:
            cls = holder(annotation)
            assert_same(lambda cls=cls, value=value: cls.model_construct(a=value()))


WRONG: list[Callable[[], Any]] = [
    lambda: (1, 2),
    lambda: {1, 2},
    lambda: frozenset({2}),
    lambda: zoo.SubList([1, True]),
    lambda: collections.deque([1, True]),
    lambda: {"a": 1},
    lambda: {1: True},
    lambda: (number for number in (1, True)),
    lambda: None,
    lambda: "text",
    lambda: 5,
    lambda: zoo.IntList([1]),
    lambda: [zoo.LeafChild()],
    lambda: (zoo.LeafChild(), zoo.Leaf()),
    lambda: {"k": zoo.LeafChild()},
    lambda: zoo.SubDict(k=zoo.LeafChild()),
    lambda: collections.OrderedDict(k=zoo.LeafChild()),
    lambda: collections.defaultdict(int, k=True),
    lambda: zoo.Pair(1, 2),
    lambda: range(2),
    lambda: bytearray(b"x"),
]


@pytest.mark.parametrize(
    "annotation",
    [
        list[int], list[float], list[zoo.Leaf], dict[str, float], dict[str, zoo.Leaf], list[float] | None,
        list[float] | str, list[float] | list[zoo.Leaf],
        tuple[float, ...], tuple[int, int], set[float], frozenset[int], Sequence[float], Mapping[str, float],
        collections.deque[float],
        list[list[float]], list[dict[str, float]], dict[str, list[float]],
        zoo.Leaf | list[zoo.Leaf] | dict[str, zoo.Leaf], list, dict, tuple, set, Any,
    ],
    ids=stable_id,
)  # fmt: skip
def test_wrong_containers(annotation: Any) -> None:
    cls = holder(annotation)
    for make in WRONG:
        assert_same(lambda make=make: cls.model_construct(a=make()))
        assert_same(lambda make=make: cls.model_construct(a=[make()]))
        assert_same(lambda make=make: cls.model_construct(a={"k": make(), "l": None}))


class Bound(BaseModel, Generic[BoundT]):
    a: BoundT
    b: list[BoundT] = []


class Unbound(BaseModel, Generic[zoo.T]):
    a: zoo.T
    b: list[zoo.T] = []


def test_subclasses() -> None:
    child, seen = zoo.LeafChild(a=2), zoo.SeenChild(a=3)
    for annotation in (
        zoo.Leaf,
        list[zoo.Leaf],
        dict[str, zoo.Leaf],
        tuple[zoo.Leaf, ...],
        zoo.Leaf | None,
        zoo.Leaf | zoo.Seen,
        Any,
        SerializeAsAny[zoo.Leaf],
    ):
        cls = holder(annotation)
        for value in (child, seen, [child, zoo.Leaf()], {"k": child}, (child, seen), [seen]):
            for extra in (
                {},
                {"serialize_as_any": True},
                {"exclude_none": True},
                {"exclude": {"a": {0: {"z"}, "k": {"b"}}}},
            ):
                assert_same(cls.model_construct(a=value), **extra)
    for model in (
        Bound(a=child, b=[child, zoo.Leaf()]),
        Bound[zoo.Leaf](a=child, b=[child]),
        Bound[zoo.LeafChild](a=child, b=[child]),
        Unbound(a=child, b=[child, 1]),
        Unbound[zoo.Leaf](a=child, b=[child]),
    ):
        assert_same(model)
        assert_same(zoo.AnyRoot([model]))
        assert_same(holder(type(model))(a=model))


def test_a_subclass_with_its_own_ideas() -> None:
    class Base(BaseModel):
        x: int = 1
        y: list[int] = [1]

    class Child(Base):
        model_config = ConfigDict(extra="allow")
        y: Any = "not a list"
        w: int = 0
        x: str = "text"

    cls = holder(list[Base])
    for value in (Child(), Child(q=1), Child.model_construct(x=5, y=[True])):
        assert_same(cls.model_construct(a=[value, Base()]))
        assert_same(cls.model_construct(a=[value]), exclude_none=True, exclude={"a": {0: {"w"}}})


def test_slices_read_live_lists_no_further_than_they_were() -> None:
    """Lists that grow while they are written: as long as they were when they were reached."""

    def grow(value: Any) -> Any:
        TARGETS[-1].append(zoo.Leaf(a=99))
        return value

    TARGETS: list[list[Any]] = []
    Growing = create_model("Growing", a=(Annotated[int, PlainSerializer(grow)], 0))
    for annotation in (list[Any], Any, list[Growing], list[Growing | zoo.Leaf]):
        for size in (2, 40, 300, 1500):

            def make(annotation: Any = annotation, size: int = size) -> BaseModel:
                TARGETS.append([Growing() for _ in range(size)])
                return holder(annotation).model_construct(a=TARGETS[-1])

            assert_same(make)


@oracle_settings(80)
@given(st.sampled_from(ITEM_TYPES), values.list_of(values.junk, max_size=8), st.booleans())
def test_generated_lists(item_type: Any, make: values.Make, exclude_none: bool) -> None:
    cls = holder(list[item_type])
    assert_same(lambda: cls.model_construct(a=make()), exclude_none=exclude_none)
    assert_same(lambda: cls.model_construct(a=make() * 20), exclude_none=exclude_none)


class Tenfold(int, enum.Enum):
    """Is one number and has another as its value."""

    ONE = 1

    def __new__(cls, value: int) -> Self:
        member = int.__new__(cls, value)
        member._value_ = 10 * value
        return member


class Added(enum.Enum):
    """Can be summed without being a number."""

    ONE = 1

    def __radd__(self, other: int) -> int:
        return other + 1


@pytest.mark.parametrize("stranger", [Tenfold.ONE, Added.ONE], ids=stable_id)
@pytest.mark.parametrize("size", [1, 300, 5000])
def test_members_of_unlike_enums_among_numbers(stranger: Any, size: int) -> None:
    class Numbers(BaseModel):
        a: list[int]

    assert_same(Numbers.model_construct(a=[*range(size), stranger]))


STRANGERS: list[Any] = [
    True,
    1.5,
    None,
    "\u00e9",
    "x" * 60_000,
    "\ud800",
    2**64,
    zoo.Color.RED,
    zoo.Leaf(),
    [1],
    (),
    {"k": 1},
]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda value: stable_id(value)[:20])
def test_strangers_in_rows_of_plain_values(stranger: Any) -> None:
    class Rows(BaseModel):
        any: Any = None
        texts: list[str] = []
        words: dict[str, str] = {}
        counts: dict[int, float] = {}
        pair: tuple[Any, ...] = ()

    for size in (0, 1023, 1024, 1025, 2500):
        for at in {0, size // 2, max(0, size - 1)}:
            numbers: list[Any] = [1] * size
            numbers.insert(at, stranger)
            texts = ["a"] * size
            texts.insert(at, stranger)
            for fields in (
                {"any": numbers},
                {"any": {str(name): item for name, item in enumerate(numbers)}},
                {"pair": tuple(texts)},
                {"texts": texts},
                {"words": {str(name): item for name, item in enumerate(texts)}},
                {"counts": {name: item * 1.0 if item == 1 else item for name, item in enumerate(numbers)}},
            ):
                assert_same(Rows.model_construct(**fields))
                assert_same(zoo.AnyRoot([Rows.model_construct(**fields)]))
