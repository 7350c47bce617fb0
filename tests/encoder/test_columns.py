"""Columns: what they take, what they keep, and that a codec writes what the serializer returns."""

import math
import pickle
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from encoder.arrays import to_bool_column, to_float_column, to_int_column
from encoder.columns import (
    COLUMN_KINDS,
    BoolColumn,
    ColumnKind,
    FloatColumn,
    IntColumn,
)
from encoder.encode import to_json
from encoder.writers.base import UNKNOWN, Run
from encoder.writers.calls import dumps
from encoder.writers.columns import ColumnWriter


class Node(BaseModel):
    model_config = ConfigDict(validate_assignment=True)

    ints: IntColumn = Field(default_factory=lambda: to_int_column([]))
    bools: BoolColumn = Field(default_factory=lambda: to_bool_column([]))
    floats: FloatColumn = Field(default_factory=lambda: to_float_column([]))
    maybe: FloatColumn | None = None


def test_assignment_converts() -> None:
    node = Node()
    node.maybe = [0.5, None]  # type: ignore[assignment]
    assert node.maybe is not None
    assert node.maybe.dtype == np.float64
    node.maybe = None
    with pytest.raises(ValidationError):
        node.ints = ["x"]  # type: ignore[assignment]


def test_errors_name_the_field() -> None:
    with pytest.raises(ValidationError, match=r"maybe\n.*a column has one dimension, not 2"):
        Node(maybe=np.zeros((2, 2)))


def test_round_trips() -> None:
    node = Node(ints=[1, 2**40], bools=[True], floats=[0.123456, math.nan], maybe=[])
    text = node.model_dump_json()
    assert text == '{"ints":[1,1099511627776],"bools":[true],"floats":[0.1235,null],"maybe":[]}'
    again = Node.model_validate_json(text)
    assert again.model_dump_json() == text
    assert pickle.loads(pickle.dumps(node)).model_dump_json() == text
    assert node.model_copy(deep=True).model_dump_json() == text


def test_python_dumps_keep_the_arrays() -> None:
    node = Node(floats=[0.123456])
    assert node.model_dump()["floats"] is node.floats


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_json_schema(mode: Any) -> None:
    properties = Node.model_json_schema(mode=mode)["properties"]
    assert properties["ints"] == {"title": "Ints", "type": "array", "items": {"type": "integer"}}
    assert properties["bools"]["items"] == {"type": "boolean"}
    assert properties["floats"]["items"] == {"type": ["number", "null"]}


def test_lists_put_in_place_without_validation_are_still_written() -> None:
    lists: dict[str, Any] = {"ints": [1], "bools": [True], "floats": [0.12345], "maybe": None}
    node = Node.model_construct(**lists)
    assert node.model_dump(mode="json") == {"ints": [1], "bools": [True], "floats": [0.1235], "maybe": None}


def written(values: Any, field: str, context: object) -> bytes:
    column = getattr(Node(**{field: values}), field)
    kinds = {dump.__name__.removeprefix("dump_"): kind for dump, kind in COLUMN_KINDS.items()}
    writer = ColumnWriter(kinds[field])
    run = Run({"context": context})
    whole = dumps(writer.simple(column, run), 0)
    parts = [column[start : start + 7] for start in range(0, len(column), 7)]
    texts = [dumps(writer.simple(part, run), 0)[1:-1] for part in parts]
    assert b"[" + b",".join(texts) + b"]" == whole
    steps = writer.steps(column, run, None, None, 0)
    assert steps is not None
    assert list(steps) == [None] * len(run.out[1:-1:2])
    assert b"".join(run.out) == whole
    return whole


@given(st.lists(st.integers(-(2**63), 2**63 - 1)) | st.lists(st.integers(0, 2**64 - 1)))
@example([])
def test_ints_as_written(values: list[int]) -> None:
    expected = orjson.dumps(Node(ints=values).model_dump(mode="json")["ints"])
    assert written(values, "ints", None) == expected == orjson.dumps(values)


@given(st.lists(st.booleans()))
def test_bools_as_written(values: list[bool]) -> None:
    assert written(values, "bools", None) == orjson.dumps(values)


CONTEXTS: list[Any] = [None, {}, {"float_decimals": 2}, {"float_decimals": None}, {"other": 1}]


@given(
    st.lists(st.floats()) | st.lists(st.floats(width=32)).map(lambda v: np.array(v, dtype=np.float32)),
    st.sampled_from(CONTEXTS),
)
def test_floats_as_written(values: Any, context: Any) -> None:
    dumped = Node(floats=values).model_dump(mode="json", context=context)["floats"]
    assert written(values, "floats", context) == orjson.dumps(dumped)


@pytest.mark.parametrize(
    "column",
    [
        [1],
        None,
        np.zeros((2, 2)),
        np.array(1),
        np.array([1], dtype=">i4"),
        np.array(["a"]),
        np.array([1], dtype=np.longdouble),
        np.array([1], dtype=complex),
        np.array([None]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.array([1]),
    ],
)
def test_writers_leave_what_they_cannot_write(column: Any) -> None:
    for kind in ColumnKind:
        assert ColumnWriter(kind).simple(column, Run({})) is UNKNOWN
        assert ColumnWriter(kind).steps(column, Run({}), None, None, 0) is None


def test_writers_leave_floats_that_only_python_can_refuse_to_round() -> None:
    run = Run({"context": {"float_decimals": 1.5}})
    writer = ColumnWriter(ColumnKind.FLOATS)
    assert writer.simple(Node().floats, run) is UNKNOWN
    assert writer.steps(Node().floats, run, None, None, 0) is None


def test_writers_leave_each_others_columns() -> None:
    columns = {ColumnKind.INTS: Node().ints, ColumnKind.BOOLS: Node().bools, ColumnKind.FLOATS: Node().floats}
    for kind, column in columns.items():
        takers = [other for other in ColumnKind if ColumnWriter(other).simple(column, Run({})) is not UNKNOWN]
        assert takers == [kind]


@pytest.mark.every_path
@pytest.mark.parametrize("length", [0, 1, 8191, 8192, 8193, 30_000])
def test_long_columns_are_written_in_slices(length: int) -> None:
    node = Node(ints=range(length), bools=[True] * length, floats=np.linspace(-20, 20, length))
    assert to_json(node) == orjson.dumps(node.model_dump(mode="json"))
