"""Float columns as JSON bytes, equal to what orjson writes for the rounded list.

Four decimals between -10 and 10, which is nearly every log-probability and advantage, come from a table: one cell of
eight bytes per value, comma included, NUL where it has no character. The cells are gathered, and the NULs removed, in
two C calls. Everything else goes through orjson.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from encoder.rounding import FloatArray, nearest_multiples, round_floats
from encoder.splitting import split

TABLE_DECIMALS: Final = 4
"""The precision of the record's per-token floats, and of the table."""

_SCALE: Final = 10**TABLE_DECIMALS
_LIMIT: Final = 10 * _SCALE
_CELL_BYTES: Final = 8

# The table: a cell for what is out of range, -10.0, ... -0.0001, -0.0, 0.0, 0.0001, ... 10.0, and again out of range.
_BEYOND: Final = b"\xff"
_END: Final = b"]"
_ZERO: Final = _LIMIT + 2

# Added to a product, this leaves the nearest integer, halves to even, in the low bits of the sum (for less than 2**51).
_SHIFT: Final = 1.5 * 2.0**52
_INDEX_OF_BITS: Final = _ZERO - int(np.array(_SHIFT).view(np.int64))

# `replace` costs some 20 ns a NUL, `translate` 0.5 ns a byte: the border is where one byte of fifty is NUL.
_SAMPLE_BYTES: Final = 512
_FEW_NULS: Final = 10

# Of a float32, 24 bits count, and of the scale ten: a double holds their product.
_EXACT_BYTES: Final = 4

# A column with more values beyond the table than one in this many goes through orjson as a whole.
_MANY_GAPS: Final = 8

# Columns share their calls, a dozen that cost some 10 microseconds, up to as many values as the caches hold well.
_TOGETHER: Final = 32 * 1024

# From this length on it pays to look whether a column has but one value, as advantages mostly have.
_LONG: Final = 128


def float_texts(columns: Sequence[FloatArray], decimals: int | None) -> list[bytes]:
    """Write several columns, none of them empty, as JSON arrays without their brackets.

    Args:
        columns: one-dimensional float arrays of any width.
        decimals: how many digits to keep after the point; None keeps every digit.

    Returns:
        For each column the bytes of `orjson.dumps([round(v, decimals) for v in column.tolist()])[1:-1]`; NaN and the
        infinities are null.

    Raises:
        OverflowError: a negative `decimals` rounds a value out of a double's range, as in Python.
    """
    if max(map(len, columns), default=0) < _LONG:
        return _varied(columns, decimals)
    texts = [_repeated(column, decimals) if len(column) >= _LONG else None for column in columns]
    varied = [column for column, text in zip(columns, texts, strict=True) if text is None]
    written = iter(_varied(varied, decimals))
    return [next(written) if text is None else text for text in texts]


def _repeated(column: FloatArray, decimals: int | None) -> bytes | None:
    """The text of a column whose values are the same to the bit; None for any other."""
    values = column.tobytes()
    first = values[: column.itemsize]
    if not values.endswith(first) or values != first * len(column):
        return None
    (value,) = column[:1].tolist()
    text = orjson.dumps(value if decimals is None else round(value, decimals))
    return (text + b",") * (len(column) - 1) + text


def _varied(columns: Sequence[FloatArray], decimals: int | None) -> list[bytes]:
    """The texts of columns whose values differ."""
    if decimals != TABLE_DECIMALS:
        return [_by_orjson(column, decimals) for column in columns]
    lengths = [len(column) for column in columns]
    if len(columns) < 2 or sum(lengths) > _TOGETHER:
        return [_cut(column, _cells([column])) for column in columns]
    cells = _cells(columns)
    ends = list(itertools.accumulate(lengths))
    cells.view(np.uint8)[np.array(ends) * _CELL_BYTES - 1] = _END[0]  # for the comma of a column's last value
    text = cells.tobytes()
    if _BEYOND in text:
        return [_cut(column, cells[end - len(column) : end]) for column, end in zip(columns, ends, strict=True)]
    return split(_without_nuls(text), _END, len(columns))[:-1]


def _cut(column: FloatArray, cells: npt.NDArray[np.uint64]) -> bytes:
    """The text of a column by its cells; values that have none are put in by orjson."""
    text = cells.tobytes()
    if _BEYOND in text:
        gaps = np.flatnonzero(cells.view(np.uint8)[::_CELL_BYTES] == _BEYOND[0])
        if len(gaps) * _MANY_GAPS > len(cells):
            return _by_orjson(column, TABLE_DECIMALS)
        parts = [b""] * (2 * len(gaps) + 1)
        parts[::2] = _without_nuls(text).split(_BEYOND)
        parts[1::2] = _by_orjson(column[gaps], TABLE_DECIMALS).split(b",")
        text = b"".join(parts)
    else:
        text = _without_nuls(text)
    return text[:-1]


def _without_nuls(text: bytes) -> bytes:
    if text.count(b"\0", 0, _SAMPLE_BYTES) <= _FEW_NULS:
        return text.replace(b"\0", b"")
    return text.translate(None, b"\0")


def _by_orjson(column: FloatArray, decimals: int | None) -> bytes:
    wide = np.ascontiguousarray(column, dtype=np.float64)
    rounded = wide if decimals is None else round_floats(wide, decimals)
    return orjson.dumps(rounded, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]


def _cells(columns: Sequence[FloatArray]) -> npt.NDArray[np.uint64]:
    """The table's cells of the values of some columns, one after the other."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.concatenate(columns, dtype=np.float64)
        products = values * float(_SCALE)
        shifted = products + _SHIFT
        indexes = shifted.view(np.int64) + _INDEX_OF_BITS
        # The product of a narrower float and the scale is exact, so that the shift rounds it as Python does.
        if max(column.itemsize for column in columns) > _EXACT_BYTES:
            shifted -= _SHIFT
            products -= shifted
            np.abs(products, out=products)
            if not products.max() < 0.5:  # a half, whose side only the exact product tells; or NaN
                indexes = np.clip(nearest_multiples(values, TABLE_DECIMALS), -_ZERO, _ZERO).astype(np.int64) + _ZERO
    indexes += values.view(np.int64) >> 63  # below zero, one further: -0.0 has a cell of its own
    return float_cells().take(indexes, mode="clip")


@functools.cache
def float_cells() -> npt.NDArray[np.uint64]:
    """Return the table. Each cell is one number and a comma as eight bytes, viewed as a uint64; built on first use."""
    digits = np.arange(_SCALE)[:, None] // (1000, 100, 10, 1) % 10
    fractions = (digits + ord("0")).astype(np.uint8)
    # A digit is written if it or a later one is not zero; the first always is.
    later = np.maximum.accumulate(digits[:, ::-1], axis=1)[:, ::-1]
    fractions[:, 1:][later[:, 1:] == 0] = 0

    below_ten = np.zeros((10, _SCALE, _CELL_BYTES), dtype=np.uint8)
    below_ten[..., 1] = (np.arange(10) + ord("0"))[:, None]
    below_ten[..., 2] = ord(".")
    below_ten[..., 3:7] = fractions
    below_ten[..., 7] = ord(",")
    ten = np.frombuffer(b"\x00\x00\x0010.0,", dtype=np.uint8)
    positive = np.concatenate([below_ten.reshape(-1, _CELL_BYTES), ten[None]])
    negative = positive[::-1].copy()
    negative[:, 0] = ord("-")
    negative[0] = np.frombuffer(b"\x00\x00-10.0,", dtype=np.uint8)
    beyond = np.frombuffer(_BEYOND + b"\0\0\0\0\0\0,", dtype=np.uint8)[None]
    return np.concatenate([beyond, negative, positive, beyond]).view(np.uint64).reshape(-1)
