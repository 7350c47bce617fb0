"""Every species of type and of model that pydantic knows, and the data of this package's own fixtures."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

import collections
import datetime as dt
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

import pytest
from hypothesis import given
from pydantic import (
    AfterValidator,
    AnyUrl,
    Base64Bytes,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    FileUrl,
    FutureDatetime,
    GetCoreSchemaHandler,
    HttpUrl,
    ImportString,
    IPvAnyAddress,
    Json,
    NaiveDatetime,
    PositiveInt,
    Secret,
    SecretBytes,
    SecretStr,
    SkipValidation,
    StringConstraints,
    WrapValidator,
    conlist,
    create_model,
)
from pydantic_core import core_schema

from tests.encoder import values, zoo
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings


class Custom:
    """A type with a schema of its own."""

    def __init__(self, value: int) -> None:
        self.value = value

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls(value),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda custom: custom.value),
        )


class Shaped(list):
    """A list with a schema of its own, serialized as text."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.list_schema(core_schema.int_schema(), serialization=core_schema.to_string_ser_schema())


TYPED: list[tuple[Any, list[Any]]] = [
    (SecretStr, ["hidden", ""]), (SecretBytes, [b"hidden"]), (Secret[int], [5]), (AnyUrl,
    ["http://ex\u00e4mple.com/\u00e9?q=1#f"]), (HttpUrl, ["https://a.b"]), (FileUrl, ["file:///a"]),
    (IPvAnyAddress, ["1.2.3.4", "::1"]), (ipaddress.IPv4Network, ["1.2.3.0/24"]), (re.Pattern[str], ["a+"]),
    (Json[list[int]], ["[1, 2]"]), (ByteSize, ["10 MB", 5]),
    (Base64Bytes, [b"aGk="]), (PositiveInt, [1]), (Annotated[str, StringConstraints(max_length=3)], ["abc"]),
    (conlist(int, min_length=1), [[1, 2]]), (dt.datetime, ["2020-01-01T00:00:00Z", 0]),
    (NaiveDatetime, ["2020-01-01T00:00:00"]), (FutureDatetime, ["2999-01-01T00:00:00"]), (dt.timedelta, [1.5,
    "P1D"]), (dt.time, ["01:02:03.5"]), (Fraction, ["1/3"]), (complex, ["1+2j"]),
    (collections.OrderedDict[str, zoo.Leaf], [{"a": {}}]), (collections.defaultdict[str, list[int]],
    [{"a": [1]}]), (collections.Counter[str], [{"a": 2}]), (collections.deque[int], [[1, 2]]),
    (frozenset[int], [[1]]), (set[str], [["a"]]), (Sequence[zoo.Leaf], [[{"a": 1}]]), (Iterable[int], [[1,
    2]]), (Mapping[str, float], [{"a": 1}]), (type[int], [int]), (ImportString, ["math.pi"]),
    (Custom, [5]), (list[Custom], [[5, 6]]), (dict[str, Custom], [{"k": 1}]), (Custom | None, [None, 5]),
    (Shaped, [[1, 2]]), (list[Shaped], [[[1]]]),
    (Annotated[list[int], AfterValidator(lambda value: value)], [[1]]), (Annotated[list[int],
    BeforeValidator(lambda value: value)], [[1]]),
    (Annotated[list[int], WrapValidator(lambda value, handler: handler(value))], [[1]]), (Annotated[list[int],
    AfterValidator(tuple)], [[1, 2]]), (SkipValidation[int], ["not an int", 1, True]),
    (SkipValidation[list[int]], [[True, "x"]]), (Annotated[int, Field(strict=True)], [1]), (Annotated[float,
    Field(allow_inf_nan=True)], [float("inf"), 1]), (zoo.Entry, [{"a": 1, "b": {"a": 2}}]),
    (zoo.Pair, [(1, 2)]), (zoo.Rich, [{"A": 1}]), (list[zoo.Rich], [[{"A": 1}]]), (tuple[int, ...], [[1]]),
    (tuple[()], [()]),
    (list[tuple[int, str]], [[(1, "a")]]), (dict[str, tuple[zoo.Leaf, int]], [{"k": ({}, 1)}]),
    (list[list[list[int]]], [[[[1], []], []]]), (dict[str, dict[str, dict[str, int]]],
    [{"a": {"b": {"c": 1}}}]),
    (list[dict[str, list[zoo.Leaf]]], [[{"a": [{}]}]]), (zoo.Bits, [3]), (list[zoo.Level], [[1]]),
    (dict[zoo.Word, zoo.Color], [{"yes": "red"}]), (bytes, [b"x"]), (bytearray, [bytearray(b"x")]), (Any,
    [b"x"]),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "inputs"), TYPED, ids=[str(annotation)[:60] for annotation, _ in TYPED])
def test_types(annotation: Any, inputs: list[Any]) -> None:
    for config in ({}, {"ser_json_bytes": "hex", "ser_json_timedelta": "float"}):
        cls = create_model(
            "Typed",
            __config__=ConfigDict(arbitrary_types_allowed=True, **config),
            a=(annotation, ...),
            b=(list[annotation], []),
        )
        for value in inputs:

            def make(cls: Any = cls, value: Any = value) -> BaseModel:
                return cls(a=value, b=[value, value])

            for kwargs in (
                {},
                {"round_trip": True},
                {"exclude_none": True},
                {"exclude": {"a": {0}, "b": {0: {0}}}},
                {"warnings": "error"},
                {"exclude_defaults": True},
            ):
                assert_same(make, **kwargs)
            assert_same(lambda make=make: zoo.AnyRoot([make(), make().a]))


def test_real_chats(trajectories: list[dict[str, Any]], edge_chats: list[dict[str, Any]]) -> None:
    chats = [*trajectories[:40], *edge_chats]
    for chat in chats:
        assert_same(zoo.AnyRoot(chat))
    assert_same(zoo.Loose(x1=chats[:20]), exclude={"x1": {"__all__": {"messages": {0}}}})
    holder = create_model("Chats", chats=(list[dict[str, Any]], ...))
    assert_same(holder(chats=chats[:20]), exclude_none=True)


@oracle_settings(150)
@given(values.anything)
def test_generated_values_under_any(make: values.Make) -> None:
    assert_same(lambda: zoo.AnyRoot(make()))
    assert_same(lambda: zoo.Loose(x1=make(), b=None), exclude_none=True)
