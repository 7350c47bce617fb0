"""Kinds of fields: an annotation together with the values that fit it."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import collections
import contextlib
import contextvars
import datetime as dt
import decimal
import pathlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, Union

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import PlainSerializer, SerializeAsAny, WrapSerializer

from tests.encoder import values, zoo
from tests.encoder.seen import facts
from tests.encoder.values import Makes, fixed, just, of


@dataclass(frozen=True)
class Kind:
    """An annotation and makes of values that fit it."""

    annotation: Any
    makes: Makes
    hashable: bool = False


LEAVES = [
    Kind(int, fixed(values.ints), hashable=True),
    Kind(float, fixed(values.floats), hashable=True),
    Kind(str, fixed(values.texts), hashable=True),
    Kind(bool, of(just(True), just(False)), hashable=True),
    Kind(Any, values.anything),
    Kind(object, values.harmless),
    Kind(None, of(just(None))),
    Kind(bytes, fixed(values.blobs), hashable=True),
    Kind(decimal.Decimal, fixed(values.decimals)),
    Kind(dt.datetime, fixed(values.datetimes), hashable=True),
    Kind(dt.date, fixed(values.dates), hashable=True),
    Kind(dt.time, fixed(values.times)),
    Kind(dt.timedelta, fixed(values.deltas), hashable=True),
    Kind(uuid.UUID, fixed(values.uuids), hashable=True),
    Kind(pathlib.Path, fixed(values.paths), hashable=True),
    Kind(zoo.Color, of(*map(just, zoo.Color)), hashable=True),
    Kind(zoo.Level, of(*map(just, zoo.Level)), hashable=True),
    Kind(zoo.Word, of(*map(just, zoo.Word)), hashable=True),
    Kind(Literal["x", 1, b"b"] | None, of(*map(just, ("x", 1, None, b"b"))), hashable=True),
]
MODELS = [
    Kind(zoo.Leaf, of(zoo.Leaf, zoo.LeafChild, lambda: zoo.Leaf(b="b"), lambda: zoo.Leaf.model_construct(a="no"))),
    Kind(SerializeAsAny[zoo.Leaf], of(zoo.Leaf, zoo.LeafChild)),
    Kind(zoo.Seen, of(zoo.Seen, zoo.SeenChild, lambda: zoo.Seen(c={"a": 1, "k": zoo.LeafChild()}))),
    Kind(zoo.Pet, of(zoo.Cat, zoo.Dog, zoo.DogChild, lambda: zoo.Cat.model_construct(kind="dog"))),
    Kind(zoo.CalledPet, of(zoo.Cat, zoo.Dog, zoo.DogChild, zoo.Leaf)),
    Kind(zoo.Loose, of(zoo.Loose, lambda: zoo.Loose(x1=[zoo.LeafChild()], c=None))),
    Kind(zoo.TypedLoose, of(zoo.TypedLoose, lambda: zoo.TypedLoose(x1=5))),
    Kind(zoo.Aliased, of(zoo.Aliased)),
    Kind(zoo.ByAlias, of(zoo.ByAlias)),
    Kind(zoo.Hexed, of(zoo.Hexed, lambda: zoo.Hexed(b=b"ok", c=[float("nan")]))),
    Kind(zoo.Computed, of(zoo.Computed, lambda: zoo.Computed(x1=1, e=2))),
    Kind(zoo.Hidden, of(zoo.Hidden, lambda: zoo.Hidden(b=1, c=[1]))),
    Kind(zoo.PlainModel, of(zoo.PlainModel)),
    Kind(zoo.WrapModel, of(zoo.WrapModel, lambda: zoo.WrapModel(b=zoo.LeafChild()))),
    Kind(zoo.TextModel, of(zoo.TextModel)),
    Kind(zoo.Tree, of(zoo.Tree, lambda: zoo.Tree(kids=[zoo.Tree(a=[1])], named={"k": zoo.Tree()}, next=zoo.Tree()))),
    Kind(zoo.Box[int], of(lambda: zoo.Box[int](a=1, b=[1, 2]))),
    Kind(zoo.Box, of(lambda: zoo.Box(a=zoo.LeafChild(), b=[True, zoo.Leaf()]))),
    Kind(zoo.Box[zoo.Leaf], of(lambda: zoo.Box[zoo.Leaf](a=zoo.LeafChild(), b=[zoo.Leaf()]))),
    Kind(zoo.IntList, of(lambda: zoo.IntList([1, 2]), lambda: zoo.IntList.model_construct([True, "x"]))),
    Kind(zoo.MaybeRoot, of(lambda: zoo.MaybeRoot(None), lambda: zoo.MaybeRoot(1))),
    Kind(zoo.LeafMap, of(lambda: zoo.LeafMap({"k": zoo.LeafChild()}))),
    Kind(zoo.Point, of(zoo.Point, zoo.PointChild)),
    Kind(zoo.Rich, of(zoo.Rich, lambda: zoo.Rich(A=2, b=b"x", c=[zoo.LeafChild()]))),
    Kind(zoo.Slotted, of(zoo.Slotted)),
    Kind(zoo.Pair, of(zoo.Pair, lambda: (1, "b"), lambda: (1,))),
    Kind(zoo.Entry, of(lambda: {"a": 1}, lambda: {"b": None, "a": 1, "c": 5}, lambda: {"a": 1, "zz": 2}, dict)),
    Kind(zoo.Frozen, of(zoo.Frozen, lambda: zoo.Frozen(b=(1, 2)))),
]
KEY_TYPES = [
    Kind(str, fixed(values.keys)),
    Kind(int, fixed(st.integers(-2, 3) | st.booleans())),
    Kind(
        Any,
        fixed(
            st.sampled_from(["a", 1, True, None, 1.5, float("nan"), b"k", (1, "t"), zoo.Word.YES, dt.date(2020, 1, 1)])
        ),
    ),
    Kind(float, fixed(st.sampled_from([1.0, 1e22, float("nan"), -0.0, 2]))),
    Kind(bool, of(just(True), just(False))),
    Kind(dt.date, fixed(values.dates)),
    Kind(zoo.Word, of(*map(just, zoo.Word))),
    Kind(Optional[int], of(just(1), just(None))),  # noqa: UP045
    Kind(bytes, fixed(values.blobs)),
]


def _shout(value: Any) -> Any:
    return f"<{value if isinstance(value, str) else type(value).__name__}>"


def _tell(value: Any, info: Any) -> Any:
    return facts(info)


def _hand(value: Any, handler: Any) -> Any:
    return [handler(value)]


def _hand_and_tell(value: Any, handler: Any, info: Any) -> Any:
    return {"v": handler(value), **facts(info)}


SERIALIZERS = [
    PlainSerializer(_shout),
    PlainSerializer(_tell),
    PlainSerializer(_shout, when_used="unless-none"),
    PlainSerializer(_shout, return_type=int),
    WrapSerializer(_hand),
    WrapSerializer(_hand, when_used="json-unless-none"),
    WrapSerializer(_hand_and_tell),
]

_nested: contextvars.ContextVar[SearchStrategy[Kind] | None] = contextvars.ContextVar("nested", default=None)


@contextlib.contextmanager
def nested(strategy: SearchStrategy[Kind] | None) -> Iterator[None]:
    """Let kinds drawn inside hold models of this strategy's: a loop that imports could not close."""
    token = _nested.set(strategy)
    try:
        yield
    finally:
        _nested.reset(token)


@st.composite
def kinds(draw: st.DrawFn, depth: int = 2) -> Kind:
    """A kind of field, of containers nested up to `depth`."""
    generated = _nested.get()
    choice = draw(st.integers(0, 9))
    if choice <= 2 or depth <= 0:
        return draw(st.sampled_from(LEAVES))
    if choice <= 4:
        return draw(generated) if generated is not None and draw(st.booleans()) else draw(st.sampled_from(MODELS))
    if choice == 5:
        serializer = draw(st.sampled_from(SERIALIZERS))
        inner = draw(kinds(depth - 1))
        return Kind(Annotated[inner.annotation, serializer], inner.makes)
    if choice == 6:
        members = draw(st.lists(kinds(depth - 1), min_size=2, max_size=3))
        return Kind(Union[tuple(kind.annotation for kind in members)], st.one_of([kind.makes for kind in members]))  # noqa: UP007
    return draw(containers(draw(kinds(depth - 1))))


@st.composite
def containers(draw: st.DrawFn, item: Kind) -> Kind:
    """A kind whose values hold values of another."""
    annotation, makes = item.annotation, item.makes
    lists = values.list_of(makes)
    if item.hashable and draw(st.booleans()):
        few = st.lists(makes, max_size=3)
        if draw(st.booleans()):
            return Kind(set[annotation], few.map(lambda items: lambda: {item() for item in items}))
        return Kind(frozenset[annotation], few.map(lambda items: lambda: frozenset(item() for item in items)))
    key = draw(st.sampled_from(KEY_TYPES))
    pairs = st.lists(st.tuples(key.makes, makes), max_size=3)
    mappings = pairs.map(lambda drawn: lambda: {name(): make() for name, make in drawn})
    tuples = lists.map(lambda make: lambda: tuple(make()))
    return draw(
        st.sampled_from(
            [
                Kind(list[annotation], lists),
                Kind(list[annotation], lists),
                Kind(list[annotation], tuples),
                Kind(dict[key.annotation, annotation], mappings),
                Kind(dict[key.annotation, annotation], mappings),
                Kind(Optional[annotation], of(just(None)) | makes),  # noqa: UP045
                Kind(tuple[annotation, ...], tuples),
                Kind(tuple[int, annotation], makes.map(lambda make: lambda: (1, make()))),
                Kind(Sequence[annotation], lists),
                Kind(Mapping[key.annotation, annotation], mappings),
                Kind(collections.deque[annotation], lists.map(lambda make: lambda: collections.deque(make()))),
                Kind(Iterable[annotation], lists.map(lambda make: lambda: (item for item in make()))),
            ]
        )
    )
