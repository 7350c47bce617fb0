"""Lists and arrays of every kind become columns: plain one-dimensional arrays that orjson can write.

Lists, tuples, ranges, `array.array` and whatever numpy can view as an array (a CPU tensor, say) are taken.
The result is contiguous and in the machine's byte order; an array that is so already is kept, not copied.
What would change a value is refused.
"""

import array
import contextlib
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]

_INT32 = np.iinfo(np.int32)
_INT64 = np.iinfo(np.int64)
_UINT64 = np.iinfo(np.uint64)

_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def to_int_column(values: object) -> Column:
    """Return integers as a column: int32 where all fit, else int64, else uint64.

    Args:
        values: a sequence or array of integers; floats that are whole numbers count.

    Raises:
        ValueError: not one-dimensional, not integers, or beyond 64 bits.
    """
    if is_plain(values, "i") and values.dtype == np.int32:
        return values
    if isinstance(values, list | tuple):
        try:
            column = np.frombuffer(array.array("q", values), dtype=np.int64)
        except (TypeError, OverflowError):
            column = _ints_one_by_one(values)
    else:
        column = _one_dimension(values)
        if column.dtype.kind not in "iu":
            column = _ints_one_by_one(column.tolist())
    return _narrowed(column)


def to_bool_column(values: object) -> Column:
    """Return flags as a bool column.

    Args:
        values: a sequence or array of bools; the numbers 0 and 1 count.

    Raises:
        ValueError: not one-dimensional, or something else than true and false.
    """
    if is_plain(values, "b"):
        return values
    if isinstance(values, list | tuple):
        # It takes integers only; whatever else there is, numpy tells apart.
        with contextlib.suppress(TypeError, ValueError):
            values = np.frombuffer(bytearray(values), dtype=np.uint8)
    column = _one_dimension(values)
    if column.dtype == np.bool_:
        return np.ascontiguousarray(column)
    if column.size == 0:
        return np.zeros(0, dtype=np.bool_)
    if column.dtype.kind not in "iuf" or not ((column == 0) | (column == 1)).all():
        raise ValueError("a mask holds true and false only")
    return column.astype(np.bool_)


def to_float_column(values: object) -> Column:
    """Return floats as a column: arrays in the width they have, lists as float64, None as NaN.

    Args:
        values: a sequence or array of numbers; None counts as NaN in a sequence.

    Raises:
        ValueError: not one-dimensional, or not numbers.
    """
    if is_plain(values, "f") and values.dtype.itemsize <= 8:
        return values
    if isinstance(values, list | tuple):
        try:
            return np.frombuffer(array.array("d", values), dtype=np.float64)
        except (TypeError, OverflowError):
            return _floats_one_by_one(values)
    column = _one_dimension(values)
    if column.dtype.kind in "iub" or (column.dtype.kind == "f" and column.dtype.itemsize > 8):
        return column.astype(np.float64)
    if column.dtype.kind != "f":
        return _floats_one_by_one(column.tolist())
    return np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("="))


def _one_dimension(values: object) -> Column:
    """Return a plain numpy array of one dimension."""
    is_column = isinstance(values, list | tuple | range | array.array) or hasattr(values, "__array__")
    if not is_column or isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"a column is a list or a numpy array, not {type(values).__name__}")
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"a column has one dimension, not {column.ndim}")
    return column


def _narrowed(column: Column) -> Column:
    """Return integers in the narrowest of int32, int64 and uint64 that holds them."""
    if column.dtype == np.int32 or column.size == 0:
        return np.ascontiguousarray(column, dtype=np.int32)
    low, high = int(column.min()), int(column.max())
    if low >= _INT32.min and high <= _INT32.max:
        return column.astype(np.int32)
    return np.ascontiguousarray(column, dtype=np.int64 if high <= _INT64.max else np.uint64)


def _ints_one_by_one(values: list[Any] | tuple[Any, ...]) -> Column:
    """Return integers as int64 or uint64, telling which value is at fault."""
    numbers = [_whole(value, position) for position, value in enumerate(values)]
    low, high = min(numbers, default=0), max(numbers, default=0)
    if low >= _INT64.min and high <= _INT64.max:
        return np.array(numbers, dtype=np.int64)
    if low >= 0 and high <= _UINT64.max:
        return np.array(numbers, dtype=np.uint64)
    raise ValueError(f"integers from {low} to {high} do not fit in 64 bits")


def _whole(value: object, position: int) -> int:
    """Return a number as an int, if it is whole."""
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return int(value)
    raise ValueError(f"item {position} is {value!r}, not an integer")


def _floats_one_by_one(values: list[Any] | tuple[Any, ...]) -> Column:
    """Return floats as float64, None as NaN, telling which value is at fault."""
    column = np.empty(len(values), dtype=np.float64)
    for position, value in enumerate(values):
        if value is not None and not isinstance(value, _NUMBERS):
            raise ValueError(f"item {position} is {value!r}, not a number")
        try:
            column[position] = np.nan if value is None else float(value)
        except (OverflowError, TypeError) as error:
            raise ValueError(f"item {position} does not fit in a float") from error
    return column


def to_expert_array(values: object) -> npt.NDArray[np.uint8]:
    """Return expert ids as a uint8 array of shape (tokens, layers, top_k).

    Raises:
        ValueError: another number of dimensions, or ids beyond 0 to 255.
    """
    experts = np.asarray(values)
    if experts.ndim != 3:
        raise ValueError(f"routed experts have the shape (tokens, layers, top_k), not {experts.shape}")
    if experts.size and (experts.dtype.kind not in "iu" or experts.min() < 0 or experts.max() > 255):
        raise ValueError("routed experts are integers from 0 to 255")
    return experts.astype(np.uint8, copy=False)


def is_plain(column: object, kinds: str = "biuf") -> TypeGuard[Column]:
    """Whether this is exactly a one-dimensional, contiguous array of numbers in the machine's byte order.

    Args:
        column: anything.
        kinds: numpy's codes of the kinds of number to take: b(ool), i(nt), u(int), f(loat).
    """
    return (
        type(column) is np.ndarray
        and column.dtype.kind in kinds
        and column.ndim == 1
        and column.flags.c_contiguous
        and column.dtype.isnative
    )
