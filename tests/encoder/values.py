"""Values for fields, right and wrong ones, as functions that make them afresh.

A value is drawn as a *make*: a function of no arguments. One-shot values (generators) and values with state
can then be handed to every encoder that is compared.
"""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import collections
import datetime as dt
import decimal
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import AnyUrl, SecretStr

from tests.encoder import zoo

Make = Callable[[], Any]
Makes = SearchStrategy[Make]


def just(value: Any) -> Make:
    """A make of one and the same value."""
    return lambda: value


def fixed(strategy: SearchStrategy[Any]) -> Makes:
    """Makes of immutable values."""
    return strategy.map(just)


def of(*makes: Make) -> Makes:
    """One of these makes."""
    return st.sampled_from(makes)


def list_of(makes: Makes, max_size: int = 4) -> Makes:
    """Makes of lists."""
    return st.lists(makes, max_size=max_size).map(lambda items: lambda: [item() for item in items])


def dict_of(keys: SearchStrategy[Any], makes: Makes) -> Makes:
    """Makes of dicts in drawn order."""
    return st.lists(st.tuples(keys, makes), max_size=4).map(lambda pairs: lambda: {key: make() for key, make in pairs})


INT64_BORDERS = [0, -1, 2**31, -(2**31), 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]
FLOAT_BORDERS = [
    0.0,
    -0.0,
    5e-324,
    1e-7,
    1e15,
    1e16,
    1e22,
    1.7976931348623157e308,
    0.1,
    2.0**53,
    float("nan"),
    float("inf"),
    -float("inf"),
]
TEXTS = ["", "plain", 'q"\\/', "\x00\x1f\x7f\n\t\r\b\f", "\u00e9\u2028\u2029", "\U0001f600", "a" * 70, "null", "1"]

ints = st.integers(-20, 20) | st.sampled_from(INT64_BORDERS)
floats = st.floats(width=64) | st.sampled_from(FLOAT_BORDERS)
texts = st.sampled_from(TEXTS) | st.text(max_size=6)
times = st.sampled_from([dt.time(), dt.time(1, 2, 3, 4), dt.time(1, tzinfo=dt.UTC)])
dates = st.sampled_from([dt.date(1, 1, 1), dt.date(2024, 2, 29)])
datetimes = st.sampled_from(
    [
        dt.datetime(2020, 1, 1),
        dt.datetime(1, 1, 1, 0, 0, 0, 1),
        dt.datetime(2020, 1, 1, 12, 30, 0, 120_000, tzinfo=dt.UTC),
        dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=-3, minutes=-30))),
    ]
)
deltas = st.sampled_from([dt.timedelta(), dt.timedelta(-1, 5), dt.timedelta(3, 4, 5), dt.timedelta(microseconds=1)])
decimals = st.sampled_from([decimal.Decimal(text) for text in ("0", "1.50", "-1E+9", "NaN", "Infinity")])
uuids = st.sampled_from([uuid.UUID(int=0), uuid.UUID(int=2**127 + 5)])
paths = st.sampled_from([pathlib.Path("a/b"), pathlib.Path("/x y")])
blobs = st.sampled_from([b"", b"ascii", "\u00e9".encode()])
keys = st.sampled_from(["a", "b", "k", "1", "", "\u00e9", 'q"']) | texts

HARMLESS: list[Make] = [
    *(just(value) for value in (None, True, False, 3, 2**53 + 1, 2**64 - 1, -0.0, 2.5, float("nan"), float("inf"))),
    *(
        just(value)
        for value in ("text", "", '\u00e9\u2028"\x00', b"bytes", (1, "a"), (), frozenset({1}), ..., dt.UTC)[:7]
    ),
    lambda: [1, "a", None, True, 2.0],
    lambda: [[1], [2.0, None], ["a"]],
    list,
    dict,
    lambda: {"k": 1, "a": None},
    lambda: {1: 2, "1": 4, None: 5, 2.5: 6, False: 7},
    lambda: {"a": 1, "b": None, "kind": "cat", "zz": [None]},
    lambda: {1},
    *(just(value) for value in (*zoo.Color, *zoo.Level, *zoo.Word, zoo.Bits.ONE | zoo.Bits.TWO)),
    *(just(value) for value in (dt.datetime(2020, 1, 1), dt.date(2020, 1, 1), dt.time(1), dt.timedelta(1))),
    *(just(value) for value in (uuid.UUID(int=1), decimal.Decimal("1.50"), pathlib.Path("p"))),
    *(just(value) for value in (np.float64(1.5), np.float64("nan"), np.str_("np"), np.bytes_(b"np"))),
    *(just(value) for value in (zoo.SubInt(5), zoo.SubFloat(5.5), zoo.SubStr("sub"), zoo.PATTERN)),
    lambda: zoo.SubDict(a=1),
    lambda: zoo.SubList([1, True]),
    lambda: collections.OrderedDict(b=1, a=2),
    lambda: collections.deque([1, 2]),
    lambda: bytearray(b"ba"),
    lambda: (number for number in (1, True, "x")),
    lambda: iter([zoo.Leaf(), 2]),
    zoo.Leaf,
    zoo.LeafChild,
    zoo.Seen,
    zoo.SeenChild,
    zoo.Cat,
    zoo.DogChild,
    lambda: zoo.Dog(b=[zoo.Cat(), zoo.DogChild()]),
    lambda: zoo.Leaf.model_construct(a="wrong"),
    lambda: zoo.Cat.model_construct(kind="unknown"),
    lambda: zoo.Loose(x1=zoo.LeafChild(), x2=None),
    lambda: zoo.Aliased(A=2),
    lambda: zoo.ByAlias(A=2),
    zoo.Hexed,
    zoo.Computed,
    zoo.Hidden,
    zoo.WrapModel,
    zoo.PlainModel,
    zoo.TextModel,
    lambda: zoo.Tree(kids=[zoo.Tree(), zoo.Tree(a=1)]),
    lambda: zoo.Box[int](a=1, b=[1]),
    lambda: zoo.Box(a=zoo.LeafChild()),
    lambda: zoo.IntList([1, 2]),
    lambda: zoo.MaybeRoot(None),
    lambda: zoo.AnyRoot([zoo.LeafChild()]),
    zoo.Point,
    lambda: zoo.PointChild(b=zoo.LeafChild()),
    zoo.Rich,
    zoo.Slotted,
    zoo.Pair,
    lambda: SecretStr("hidden"),
    lambda: AnyUrl("http://example.com/\u00e9"),
]
REFUSED: list[Make] = [
    *(just(value) for value in (2**64, -(2**63) - 1, "\ud800", b"\xff", 1 + 2j, range(3))),
    *(just(value) for value in (np.int64(1), np.float32(1), np.bool_(True), int)),
    object,
    lambda: np.array([1, 2]),
    lambda: {"deep": [object()]},
    lambda: {"\udfff": 1},
    lambda: {object(): 1},
]
harmless: Makes = st.sampled_from(HARMLESS)
junk: Makes = st.integers(0, 19).flatmap(lambda n: st.sampled_from(HARMLESS if n else REFUSED))
anything: Makes = st.recursive(
    st.one_of(fixed(ints), fixed(floats), fixed(texts), junk),
    lambda inner: st.one_of(
        list_of(inner),
        dict_of(keys, inner),
        list_of(inner).map(lambda make: lambda: tuple(make())),
    ),
    max_leaves=6,
)
