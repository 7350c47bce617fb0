"""Keys of dicts: their types, their spelling, duplicates and surrogates (families 4, 13 and 14)."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import datetime as dt
import decimal
import uuid
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, computed_field, create_model

from tests.encoder import values, zoo
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id

SURROGATE = "\udfff"
KEYS: list[Any] = [
    "a", "", "1", "true", "None", "nan", "\u00e9", 'q"\\\n', "\x00", "\U0001f600", "\ud800", "ok\udfff",
    "x" * 5000,
    0, 1, -1, True, False, None, 1.0, 1.5, -0.0, 1e22, 1e16, 1e-7, float("nan"), float("inf"), -float("inf"),
    2**53 + 1, 2**64, 2**70,
    b"a", b"\xff", (1, "t"), (), (None, True, 1.5), frozenset({1}), zoo.Color.RED, zoo.Color.SEVEN,
    zoo.Color.NOTHING, zoo.Color.PAIR,
    zoo.Level.LOW, zoo.Word.YES, zoo.Bits.ONE, zoo.SubInt(3), zoo.SubStr("sub"), zoo.SubFloat(2.5),
    dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.time(1), dt.timedelta(1),
    uuid.UUID(int=1), decimal.Decimal("1.50"),
    np.float64(1.5), np.int64(1), np.str_("np"), zoo.Frozen(), zoo.Pair(1, 2), object, object(), len, 1 + 2j,
    zoo.PATTERN,
]  # fmt: skip
KEY_TYPES: list[Any] = [
    str, int, float, bool, Any, object, bytes, None, int | None, int | str, str | None, Literal["a", 1],
    zoo.Color, zoo.Level, zoo.Word,
    dt.date, dt.datetime, dt.timedelta, uuid.UUID, decimal.Decimal, tuple[int, str], frozenset[int],
    zoo.Frozen, float | int,
]  # fmt: skip


@pytest.mark.parametrize("key_type", KEY_TYPES, ids=stable_id)
@pytest.mark.parametrize("value_type", [int, Any, list[int]], ids=stable_id)
def test_every_key_under_every_key_type(key_type: Any, value_type: Any) -> None:
    model = create_model("Keyed", a=(dict[key_type, value_type], ...))
    for key in KEYS:
        assert_same(model.model_construct(a={key: 1}))
        assert_same(model.model_construct(a={"first": 0, key: [1], "last": None}))


class Dicts(BaseModel):
    model_config = ConfigDict(extra="allow")
    s: dict[str, Any] = {}
    i: dict[int, int] = {}
    a: dict[Any, Any] = {}
    f: dict[float, int] = {}
    any: Any = None


@pytest.mark.parametrize(
    "value",
    [
        {"1": "first", 1: "last"},
        {1: "first", "2": "middle", "1": "last"},
        {True: 1, "true": 2, "True": 3},
        {None: 1, "None": 2, float("nan"): 3},
        {1: 2**64, "1": 5},
        {1: 5, "1": 2**64},
        {1: object(), "1": 5},
        {1: "\ud800", "1": 5},
        {"\ud800": 1, SURROGATE: 2, "\ufffd\ufffd\ufffd": 3},
        {"\ud800": 2**64, SURROGATE: 2},
        {1.0: 1, "1.0": 2},
        {zoo.SubStr("a"): 1, "b": 2},
        {dt.date(2020, 1, 1): 1, "2020-01-01": 2},
    ],
    ids=stable_id,
)
def test_duplicates_collapse(value: dict[Any, Any]) -> None:
    for field in ("s", "i", "a", "f", "any"):
        assert_same(Dicts.model_construct(**{field: value}))
        assert_same(Dicts.model_construct(**{field: {"deep": value, "list": [value]}}))
    assert_same(Dicts.model_construct(x=value))


def extended(model: BaseModel, **extras: Any) -> BaseModel:
    """The model, with extras set behind the validator's back."""
    assert model.__pydantic_extra__ is not None
    model.__pydantic_extra__.update(extras)
    return model


def test_extras_named_like_fields() -> None:
    class Extra(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int = 1
        b: int = Field(2, alias="B")
        c: list[zoo.Leaf] = []

        @computed_field
        @property
        def d(self) -> int:
            return 4

        @computed_field(alias="D")
        @property
        def e(self) -> int:
            return 5

    for by_alias in (False, True):
        for extras in (
            {"a": "x"},
            {"b": "x"},
            {"B": "x"},
            {"d": "x"},
            {"D": "x"},
            {"e": "x"},
            {"z": 0, "a": None, "D": [1], "c": zoo.Leaf()},
        ):
            model = extended(Extra(c=[zoo.Leaf()]), **extras)
            assert_same(model, by_alias=by_alias)
            assert_same(model, by_alias=by_alias, exclude_none=True)
            assert_same(model, by_alias=by_alias, exclude=set(extras))
            assert_same(model, by_alias=by_alias, include=set(extras))
    assert_same(extended(Extra.model_construct(a=2**64), a=5))
    assert_same(extended(Extra.model_construct(a=5), a=2**64))
    assert_same(extended(Extra.model_construct(a="\ud800"), a=5))
    assert_same(extended(Extra.model_construct(a=object()), a=5))
    assert_same(zoo.AnyRoot([extended(Extra(), a=7, b=8)]))


def test_fields_that_share_an_alias() -> None:
    class Shared(BaseModel):
        a: int = Field(1, serialization_alias="same")
        b: int = Field(2, serialization_alias="other")
        c: int = Field(3, serialization_alias="same")
        d: list[int] = Field([4], serialization_alias="b")

    for by_alias in (False, True, None):
        for exclude in (None, {"a"}, {"c"}, {"a", "c"}):
            assert_same(Shared(), by_alias=by_alias, exclude=exclude)
            assert_same(zoo.AnyRoot([Shared()]), by_alias=by_alias)
    assert_same(Shared.model_construct(a=2**64), by_alias=True)
    assert_same(Shared.model_construct(c=2**64), by_alias=True)


def test_computed_fields_that_share_a_key() -> None:
    assert_same(zoo.Computed(), by_alias=True)
    assert_same(zoo.Computed(), by_alias=False)
    assert_same(zoo.Computed(Eff=1, f=2, c=3, e=4), by_alias=True)
    assert_same(zoo.Computed(Eff=1, f=2, c=3, e=4), by_alias=False)
    assert_same(zoo.Computed.model_construct(a=2**64), by_alias=True)


@pytest.mark.parametrize("name", ["\ud800", "", 'q"', "\n", "\u00e9", "a b", "__all__", "class", "0", "x" * 3000])
def test_names_of_extras(name: str) -> None:
    model = extended(zoo.Loose(), **{name: {"k": 1}})
    assert_same(model)
    assert_same(model, exclude={name: {"k"}})
    assert_same(model, include={name})
    assert_same(extended(zoo.Loose(), **{name: None}), exclude_none=True)


@pytest.mark.parametrize(
    "name", ["", 'q"\\', "\n\x00", "\u00e9\u2028", "a b", "{}", "%s", "'", "\U0001f600", "x" * 3000]
)
def test_aliases_of_every_spelling(name: str) -> None:
    class Spelled(BaseModel):
        a: int = Field(1, serialization_alias=name)
        b: list[zoo.Leaf] = Field([zoo.Leaf()], alias=name + "2")

        @computed_field(alias=name + "3")
        @property
        def c(self) -> int:
            return 3

    assert_same(Spelled(), by_alias=True)
    assert_same(Spelled())
    assert_same(zoo.AnyRoot({"k": Spelled()}), by_alias=True)


def test_field_names_that_are_not_identifiers() -> None:
    odd = create_model(
        "Odd", **{"a b": (int, 1), 'q"': (list[int], [1]), "class": (str, "x"), "\u00e9": (zoo.Leaf, zoo.Leaf())}
    )
    assert_same(odd())
    assert_same(odd(), exclude={"a b": True, "\u00e9": {"a"}})
    assert_same(zoo.AnyRoot([odd()]))


@oracle_settings(100)
@given(st.dictionaries(st.sampled_from([key for key in KEYS if key is not float("nan")]), values.anything, max_size=5))
def test_generated_dicts(makes: dict[Any, values.Make]) -> None:
    for field in ("s", "a", "any"):
        assert_same(lambda field=field: Dicts.model_construct(**{field: {key: make() for key, make in makes.items()}}))
