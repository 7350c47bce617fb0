"""What becomes a column and what is refused."""

import array
import math
from typing import Any

import numpy as np
import pytest

from encoder.arrays import to_bool_column, to_float_column, to_int_column


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], np.int32),
        ([0, -(2**31), 2**31 - 1], np.int32),
        ([2**31], np.int64),
        ([-(2**63), 2**63 - 1], np.int64),
        ([2**64 - 1, 0], np.uint64),
        ((1, 2), np.int32),
        (range(3), np.int32),
        (array.array("h", [1, -2]), np.int32),
        (np.array([1, 2], dtype=np.int64), np.int32),
        (np.array([2**40]), np.int64),
        (np.array([2**63], dtype=np.uint64), np.uint64),
        (np.array([7], dtype=np.uint64), np.int32),
        (np.array([1, 2], dtype=">i4"), np.int32),
        (np.array([1, 2, 3, 4], dtype=np.uint8)[::2], np.int32),
        ([True, False], np.int32),
        ([1.0, 2], np.int32),
        (np.array([1.0, 2.0]), np.int32),
        ([2**63, 1.0], np.uint64),
    ],
)
def test_integers_take_the_narrowest_width(values: Any, dtype: type) -> None:
    column = to_int_column(values)
    assert column.dtype == dtype
    assert column.dtype.isnative
    assert column.flags.c_contiguous
    assert column.tolist() == [int(v) for v in values]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2.5], "item 1 is 2.5, not an integer"),
        ([None], "item 0 is None, not an integer"),
        (["1"], "not an integer"),
        ([[1]], "not an integer"),
        ([math.nan], "not an integer"),
        ([2**64], "do not fit in 64 bits"),
        ([-1, 2**63], "do not fit in 64 bits"),
        (np.array([1.5]), "item 0 is 1.5, not an integer"),
        (np.array(3), "one dimension, not 0"),
        (np.int32(3), "one dimension, not 0"),
        (np.zeros((2, 2), dtype=np.int32), "one dimension, not 2"),
        ("12", "a list or a numpy array, not str"),
        (None, "not NoneType"),
        ({1: 2}, "not dict"),
        (np.ma.array([1, 2], mask=[True, False]), "not MaskedArray"),
    ],
)
def test_integers_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_int_column(values)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [True, False],
        (True,),
        [1, 0],
        [1.0, 0.0],
        np.array([True, False, True])[::-2],
        np.array([1, 0], dtype=np.uint8),
    ],
)
def test_flags(values: Any) -> None:
    column = to_bool_column(values)
    assert column.dtype == np.bool_
    assert column.flags.c_contiguous
    assert column.tolist() == [bool(v) for v in values]


@pytest.mark.parametrize("values", [[2], [None], ["true"], [math.nan], [[True]], [[True], []], True, b"\1"])
def test_flags_refused(values: Any) -> None:
    with pytest.raises(ValueError):
        to_bool_column(values)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], np.float64),
        ([1, 2.5, True], np.float64),
        ((0.1,), np.float64),
        ([None, 1.0], np.float64),
        ([np.float32(0.5), None], np.float64),
        (np.array([0.1], dtype=np.float16), np.float16),
        (np.array([0.1], dtype=np.float32), np.float32),
        (np.array([0.1, 0.2])[::-1], np.float64),
        (np.array([0.1], dtype=">f4"), np.float32),
        (np.array([1, 2]), np.float64),
        (np.array([0.5], dtype=np.longdouble), np.float64),
        (np.array([None, 1], dtype=object), np.float64),
        (array.array("f", [0.5]), np.float32),
    ],
)
def test_floats_keep_their_width(values: Any, dtype: type) -> None:
    column = to_float_column(values)
    assert column.dtype == dtype
    assert column.dtype.isnative
    assert column.flags.c_contiguous
    expected = [math.nan if v is None else float(v) for v in values]
    assert np.array_equal(column, expected, equal_nan=True)


@pytest.mark.parametrize(
    "values",
    [["1.5"], [[1.0]], [1j], np.array(0.5), np.zeros((1, 1)), np.array(["a"]), [10**400], 0.5, "1.5"],
)
def test_floats_refused(values: Any) -> None:
    with pytest.raises(ValueError):
        to_float_column(values)


def test_plain_arrays_are_kept_not_copied() -> None:
    ints, flags, floats = np.arange(3, dtype=np.int32), np.zeros(3, dtype=np.bool_), np.zeros(3)
    ints.flags.writeable = False
    assert to_int_column(ints) is ints
    assert to_bool_column(flags) is flags
    assert to_float_column(floats) is floats


def test_columns_from_lists_can_be_written_to() -> None:
    for column in (to_int_column([1]), to_bool_column([True]), to_float_column([0.5])):
        assert column.flags.writeable
