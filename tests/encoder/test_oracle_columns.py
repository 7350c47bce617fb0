"""Numpy columns inside of models of every kind: many short ones together, long ones in slices, wrong ones."""

# mypy: ignore-errors
# Values of wrong types and classes made at run time are what these tests are about.

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import RootModel

from tests.encoder.column_models import CONTEXTS, Columns, Node, everywhere, filled, ints
from tests.encoder.oracle import assert_same
from tests.encoder.strategies import oracle_settings
from tests.naming import stable_id

LENGTHS = [(length, None) for length in (0, 1, 40, 2048, 2049, 8193)]


@pytest.mark.parametrize(("length", "context"), [*LENGTHS, *((40, context) for context in CONTEXTS)], ids=stable_id)
def test_lengths(length: int, context: Any) -> None:
    for model in everywhere(filled(length)):
        assert_same(model, context=context)
    for model in everywhere(filled(length, 1))[-2:]:
        assert_same(model, context=context, exclude_none=True)


COLUMNS: dict[str, list[Any]] = {
    "ints": [
        ints(-1), ints(-1, -1, 5), ints(5, -1), ints(0, 2**31 - 1), ints(2**53 + 1, -(2**63), dtype=np.int64),
        ints(2**64 - 1, dtype=np.uint64), ints(1, 2, dtype=np.int8), ints(1, dtype=np.uint16),
        np.arange(20, dtype=np.int32)[::2], np.arange(20, dtype=np.int64)[::-1], np.arange(5, dtype=">i4"),
        np.arange(4).reshape(2, 2), np.array(5), ints(1, 2).astype(object), ints(1, 2).astype(float),
        np.array(["a"]), ints(1, 2).view(np.recarray), np.ma.masked_array([1, 2], [0, 1]), [1, 2], (1, True),
        None, "text", [1, "x"], range(3), 5, np.int64(5), [2**64], {1: 2},
    ],
    "mask": [
        np.array([True]), np.array([False, True, False]), np.array([True, False]),
        np.array([False] * 9 + [True] * 9), np.array([True, False] * 40), np.array([True] * 90)[::3],
        np.array([2, 1, 0, 255], np.uint8).view(bool), np.array([1, 0]), np.array([[True]]), [True, False],
        [1, 0], (False,), None, "text", np.array([True], dtype=object),
    ],
    "floats": [
        np.array([0.0, -0.0]), np.array([np.nan]), np.array([np.inf, -np.inf, 1]), np.array([9.99995,
        -9.99996, 9.99994, 10, -10, 10.00001]), np.array([0.00005, 0.00015, 0.00025, -0.00005, -0.00004,
        1e-300]),
        np.array([2.675, 1.00005, 5e-324, 1e22, 1e308, -1e16]), np.array([1.1, np.nan, 2.5], np.float32),
        np.array([0.1, 65504], np.float16), np.arange(9.0)[::2], np.arange(5, dtype=">f8"),
        np.array([1, 2]), np.array([[1.5]]), np.array([1.5], dtype=object), np.array([1.5],
        dtype=np.longdouble), [1.5, 2], [None, 1.5], [1.23456789], (1.5,), None, "text", [float("nan")],
        np.array([True]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_kind(name: str) -> None:
    for value in COLUMNS[name]:
        columns = Columns.model_construct(**{**filled(4).__dict__, name: value})
        for context in (None, {"float_decimals": None}, {"float_decimals": 1}):
            for model in (
                columns,
                Node.model_construct(columns=columns),
                Node.model_construct(many=[filled(2), columns, filled(3)], named={"k": columns}),
            ):
                assert_same(model, context=context)
            assert_same(
                RootModel[list[Columns]].model_construct([filled(2), columns, filled(3, 1), columns, filled(0)]),
                context=context,
            )
            assert_same(
                RootModel[list[Node]].model_construct(
                    [Node(columns=filled(3)), Node.model_construct(columns=columns), Node(ints=ints(7))]
                ),
                context=context,
            )


@pytest.mark.parametrize(
    "decimals",
    [-400, -5, -1, 0, 1, 3, 4, 5, 15, 16, 22, 23, 400, True, "4", np.int64(4), np.int64(2), [], object],
    ids=stable_id,
)
def test_decimals_of_every_kind(decimals: Any) -> None:
    for columns in (filled(5), filled(5, 1), filled(3000), Columns(floats=[1e300, -123456.789, 0.5, 1.5, 2.5])):
        for model in (columns, RootModel[list[Columns]]([columns, filled(2), columns])):
            assert_same(model, context={"float_decimals": decimals})


@pytest.mark.parametrize("decimals", [4.0, 2.5, float("nan")])
def test_decimals_that_are_no_integers(decimals: float) -> None:
    """Python's `round` refuses them, even those that are whole."""
    for columns in (filled(5), filled(3000)):
        assert_same(columns, context={"float_decimals": decimals})
        assert_same(RootModel[list[Columns]]([columns, columns]), context={"float_decimals": decimals})


@pytest.mark.parametrize(
    "context", ["text", 5, [1], {"other": 1}, {"float_decimals": None, "x": 1}, object()], ids=stable_id
)
def test_contexts_of_every_kind(context: Any) -> None:
    assert_same(RootModel[list[Columns]]([filled(5), filled(6)]), context=context)


lengths = st.sampled_from([0, 0, 1, 2, 3, 40, 300, 2049])
numbers = st.sampled_from([0, 1, -1, 5, 2**31 - 1, -(2**31), 150_000])
floats = (
    st.floats(width=32) | st.floats(-10.1, 10.1) | st.integers(-100_001, 100_001).map(lambda n: n / 10_000 + 0.00005)
)


@st.composite
def drawn_columns(draw: st.DrawFn) -> Columns:
    length = draw(lengths)
    pattern = draw(st.lists(st.tuples(numbers, st.booleans(), floats), min_size=1, max_size=5))
    rows = (pattern * (length // len(pattern) + 1))[:length]
    return Columns.model_construct(
        ints=np.array([row[0] for row in rows], draw(st.sampled_from([np.int32, np.int64]))),
        mask=np.array([row[1] for row in rows], bool),
        floats=np.array([row[2] for row in rows], draw(st.sampled_from([np.float64, np.float32]))),
        maybe=None if draw(st.booleans()) else np.array([row[2] for row in rows]),
        name=draw(st.sampled_from(["n", "", 5, "x" * 40_000, None])) if not draw(st.integers(0, 4)) else "n",
    )


@oracle_settings(100)
@given(st.lists(drawn_columns(), max_size=6), st.sampled_from(CONTEXTS), st.booleans())
def test_generated_columns(columns: list[Columns], context: Any, exclude_none: bool) -> None:
    assert_same(RootModel[list[Columns]].model_construct(columns), context=context, exclude_none=exclude_none)
    nodes = [
        Node.model_construct(columns=item, many=columns[:i], union=columns[i:], ints=item.ints)
        for i, item in enumerate(columns)
    ]
    assert_same(RootModel[list[Node]].model_construct(nodes), context=context, exclude_none=exclude_none)
