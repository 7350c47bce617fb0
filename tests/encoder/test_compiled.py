"""The compiled part by itself: each node against orjson, and what it leaves to the writers."""

import enum
import gc
import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from encoder.columns import ColumnKind
from encoder.compiled import IS_COMPILED, native
from encoder.compiled_tokens import count_ordered
from encoder.plan import plan_of
from encoder.stepwise import finish
from encoder.tokens import TokenCounts, count_tokens
from tests.encoder.test_tokens import Call, Node, Usage
from tests.naming import stable_id

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="there was no compiler when the encoder was installed")

LARGE = 10**9
DEEP = 200


def written(node: Any, *items: Any, lengths: dict[int, int] | None = None, cost: int = LARGE) -> tuple[bytes, int]:
    """What a row of items is, and how many of them were written."""
    dumps = orjson.dumps
    text, end = native.write_row(
        node, list(items), None, 0, len(items), cost, cost, DEEP, lengths or {}, dumps, text_of, True
    )
    return b"[" + text + b"]", end


def text_of(column: Any) -> bytes:
    return orjson.dumps([round(value, 4) for value in column.tolist()])[1:-1]


def assert_written(node: Any, *items: Any) -> None:
    assert written(node, *items) == (orjson.dumps(list(items)), len(items))


TEXTS = st.text() | st.text(st.characters(max_codepoint=0x7F)) | st.text(st.sampled_from('a"\\\n\x00\x1f\x7f é€😀'))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=30,
)


@given(st.lists(TEXTS))
@example(["\x08\x0c\r\t", "x" * 7 + '"', "é" * 5 + "\ud7ff\ue000", "x" * 16384])
def test_texts(items: list[str]) -> None:
    assert_written(native.text(), *items)


@given(st.lists(JSON, max_size=5))
def test_anything(items: list[Any]) -> None:
    assert_written(native.anything(), *items)


@given(st.lists(st.floats() | st.integers(-(10**9), 10**9).map(lambda value: value / 10**4)))
@example([0.0, -0.0, 1e15, 1e16, 1e-4, 1e-5, 123456789012.3456, 99999999999.9999, 2.0**53, 1e22, 5e-324])
def test_floats(items: list[float]) -> None:
    assert_written(native.scalar(float), *items)


@given(st.lists(st.integers(-(2**63), 2**64 - 1)))
@example([0, 9, 10, 9999, 10000, 99999999, 100000000, -1, -(2**63), 2**63, 2**64 - 1])
def test_ints(items: list[int]) -> None:
    assert_written(native.scalar(int), *items)


def ties() -> Iterator[float]:
    """Halves of a ten-thousandth and their neighbours."""
    for number in (*range(40), 9999, 99995, 123456785, 2**40 + 1):
        value = (number + 0.5) / 10**4
        yield from (value, math.nextafter(value, 0), math.nextafter(value, math.inf), -value)


FLOATS = (
    st.floats() | st.floats(-10, 10) | st.sampled_from(list(ties())) | st.floats(width=32) | st.just(2.0**52 / 10**4)
)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@given(values=st.lists(FLOATS, min_size=1))
def test_columns_of_floats(dtype: str, values: list[float]) -> None:
    with np.errstate(over="ignore"):
        column = np.array(values).astype(dtype)
    text = native.column_text(column, ColumnKind.FLOATS)
    if text is None:  # too large for doubles
        assert np.abs(column[np.isfinite(column)]).max() >= 1e15 / 10**4 * (1 - 1e-9)
    else:
        assert text == text_of(column)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@given(data=st.data())
def test_columns_of_ints(dtype: str, data: st.DataObject) -> None:
    info = np.iinfo(dtype)
    border = st.sampled_from([info.min, info.max, 0])
    values = data.draw(st.lists(st.integers(int(info.min), int(info.max)) | border, min_size=1))
    column = np.array(values, dtype=dtype)
    assert native.column_text(column, ColumnKind.INTS) == orjson.dumps(values)[1:-1]


@given(st.lists(st.booleans(), min_size=1), st.sampled_from([1, 2, 3, -1]))
def test_columns_of_flags_with_strides(values: list[bool], stride: int) -> None:
    column = np.array(values)[::stride]
    assert native.column_text(column, ColumnKind.BOOLS) == orjson.dumps(column.tolist())[1:-1]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([1.0], dtype="float16"), ColumnKind.FLOATS),
        (np.array([1.0], dtype=">f8"), ColumnKind.FLOATS),
        (np.array([1], dtype=">i4"), ColumnKind.INTS),
        (np.array([1], dtype="complex128"), ColumnKind.FLOATS),
        (np.array([1], dtype="timedelta64[s]"), ColumnKind.INTS),
        (np.array([[1]]), ColumnKind.INTS),
        (np.array(1), ColumnKind.INTS),
        (np.array([1]), ColumnKind.FLOATS),
        (np.ma.masked_array([1]), ColumnKind.INTS),
        ([1], ColumnKind.INTS),
    ],
)
def test_what_is_no_column(column: Any, kind: ColumnKind) -> None:
    assert native.column_text(column, kind) is None
    assert written(native.column(kind), column) == (b"[]", 0)


class Whole(enum.IntEnum):
    ONE = 1


class Text(str):
    """A subclass."""


class Holder(BaseModel):
    a: int = 1
    b: str | None = None


FOREIGN = [Whole.ONE, Text("a"), np.float64(1), np.int64(1), (1,), {1: 2}, {Text("a"): 1}, object(), "\ud800", 2**64]


@pytest.mark.parametrize("value", [*FOREIGN, {"a": "\ud800"}, ["\ud800é"], {"é\ud800": 1}], ids=stable_id)
def test_an_item_that_is_not_json_ends_the_row(value: Any) -> None:
    assert written(native.anything(), 1, [2], value, 3) == (b"[1,[2]]", 2)
    assert written(native.anything(), [{"a": [value]}]) == (b"[]", 0)


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ("scalar(int)", True),
        ("scalar(bool)", 1),
        ("scalar(float)", 1),
        ("scalar(type(None))", 0),
        ("text()", 1),
        ("literal(frozenset({'a'}))", "b"),
        ("literal(frozenset({'a'}))", Text("a")),
        ("items(native.scalar(int))", [1, True]),
        ("items(native.scalar(int))", [1.5, 1.5, 1.5]),
        ("items(native.scalar(float))", [1.5, 2.5, 1]),
        ("items(native.text())", ("a",)),
        ("members(native.text())", {"a": 1}),
        ("nullable(native.text())", 1),
        ("choice({str: native.text()})", 1),
    ],
)
def test_a_value_that_is_not_as_declared_ends_the_row(node: str, value: Any) -> None:
    assert written(eval(f"native.{node}"), value) == (b"[]", 0)


@given(st.dictionaries(TEXTS, JSON, max_size=5))
def test_members(members: dict[str, Any]) -> None:
    keys, items = list(members), list(members.values())
    row = native.write_row(
        native.anything(), items, keys, 0, len(items), LARGE, LARGE, DEEP, {}, orjson.dumps, text_of, True
    )
    assert row == (orjson.dumps(members)[1:-1], len(items))


def test_a_key_that_is_not_text_ends_the_row() -> None:
    keys: list[Any] = ["a", "\ud800", "b"]
    row = native.write_row(native.anything(), [1, 2, 3], keys, 0, 3, LARGE, LARGE, DEEP, {}, orjson.dumps, None, True)
    assert row == (b'"a":1', 1)
    with pytest.raises(TypeError):
        native.write_row(native.anything(), [1, 2], ["a"], 0, 2, LARGE, LARGE, DEEP, {}, orjson.dumps, None, True)


def test_types_are_exact() -> None:
    assert native.are_exactly([1, 2], int)
    assert native.are_exactly([], int)
    assert not native.are_exactly([1, True], int)
    assert not native.are_exactly([1, Whole.ONE], int)


def test_lists_end_where_their_model_says() -> None:
    items = [1, 2, 3]
    assert written(native.items(native.scalar(int)), items, lengths={id(items): 2})[0] == b"[[1,2]]"


def test_what_costs_too_much_ends_the_row_or_comes_last() -> None:
    assert written(native.text(), "x" * 300, "y", cost=200) == (b'["' + b"x" * 300 + b'"]', 1)
    items = [["x" * 100] * 10]
    assert written(native.anything(), items, cost=500) == (b"[]", 0)
    deep: Any = []
    for _ in range(DEEP):
        deep = [deep]
    assert written(native.anything(), deep) == (b"[]", 0)


def model_node(cls: type[BaseModel], *, exclude_none: bool = False) -> Any:
    plan = plan_of(cls)
    assert plan is not None
    return plan.node((exclude_none, None))


def test_models() -> None:
    node = model_node(Holder)
    assert written(node, Holder(), Holder(a=2, b="x")) == (b'[{"a":1,"b":null},{"a":2,"b":"x"}]', 2)
    assert written(model_node(Holder, exclude_none=True), Holder())[0] == b'[{"a":1}]'
    other_order = Holder()
    other_order.__dict__["a"] = other_order.__dict__.pop("a")
    assert written(node, other_order) == (b"[]", 0)
    wrong: Any = "no"
    assert written(node, Holder.model_construct(a=wrong)) == (b"[]", 0)
    del (lacking := Holder()).__dict__["a"]
    assert written(node, lacking) == (b"[]", 0)
    (more := Holder()).__dict__["c"] = 1
    assert written(node, more) == (b"[]", 0)


def test_an_interruption_is_not_swallowed() -> None:
    def interrupted(value: Any) -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.write_row(native.anything(), [1 / 3], None, 0, 1, LARGE, LARGE, DEEP, {}, interrupted, None, True)


def test_a_list_that_shrinks_meanwhile() -> None:
    items: list[Any] = [[1 / 3], [2 / 3], [1.0]]

    def shrinking(value: Any) -> bytes:
        del items[1:]
        return orjson.dumps(value)

    text, end = native.write_row(native.anything(), items, None, 0, 3, LARGE, LARGE, DEEP, {}, shrinking, None, True)
    assert (text, end) == (orjson.dumps([1 / 3]), 1)


def test_nodes_go_with_their_class() -> None:
    class Short(BaseModel):
        a: int

    assert written(model_node(Short), Short(a=1))[1] == 1
    gone = weakref.ref(Short)
    del Short
    for _ in range(3):
        gc.collect()
    assert gone() is None


GRAPH = st.lists(st.none() | st.integers(-2, 12), max_size=12)
USAGES = st.none() | st.builds(Usage, st.integers(0, 100), st.integers(0, 100), st.integers(0, 9))
CALLS = st.lists(st.builds(Call, st.none() | st.integers(-2, 12), USAGES), max_size=12)


@given(GRAPH, CALLS)
def test_token_counts(parents: list[int | None], calls: list[Call]) -> None:
    nodes = [Node(parent) for parent in parents]
    found = finish(count_ordered(nodes, calls, len(nodes), len(calls)))
    in_order = all(
        parent is None or not 0 <= parent < len(parents) or parent < node for node, parent in enumerate(parents)
    )
    assert found == (finish(count_tokens(nodes, calls)) if in_order else None)


@pytest.mark.parametrize("number", [2**24, 2**31, 2**70, 1.5])
def test_token_counts_that_are_left_to_python(number: Any) -> None:
    assert finish(count_ordered([Node(None)], [Call(0, Usage(number, 1))], 1, 1)) is None
    assert finish(count_ordered([Node(1.5)], [], 1, 0)) is None  # type: ignore[arg-type]
    assert finish(count_ordered([Node(None)], [Call(0, Usage(1, 1))], 1, 1)) == TokenCounts(1, 1, 2)
