"""Float columns as JSON bytes, equal to what orjson writes for the rounded list.

Four decimals between -10 and 10, which is nearly every log-probability and advantage, come from a table: one
cell of eight bytes per value, comma included, NUL where it has no character. The cells are gathered, and
the NULs removed, in two C calls. Everything else goes through orjson.
"""

import functools

import numpy as np
import numpy.typing as npt
import orjson

from encoder.rounding import Float64Array, FloatArray, nearest_multiples, round_floats

TABLE_DECIMALS = 4
"""The precision of the record's per-token floats, and of the table."""

_SCALE = 10**TABLE_DECIMALS
_LIMIT = 10
_CELL_BYTES = 8
_SAMPLE_BYTES = 512
_FEW_NULS = 16


def encode_floats(values: FloatArray, decimals: int | None) -> bytes:
    """Write floats as the bytes of `orjson.dumps([round(v, decimals) for v in values.tolist()])`.

    Args:
        values: a one-dimensional float array of any width; it is widened to float64 first.
        decimals: how many digits to keep after the point; None keeps every digit.

    Returns:
        A JSON array; NaN and the infinities are null.

    Raises:
        OverflowError: a negative `decimals` rounds a value out of a double's range, as in Python.
    """
    wide = np.ascontiguousarray(values, dtype=np.float64)
    # A column that holds a NaN compares as False: the table has no cell for it.
    if decimals == TABLE_DECIMALS and wide.size and np.abs(wide).max() < _LIMIT:
        return _from_table(nearest_multiples(wide, TABLE_DECIMALS))
    rounded = wide if decimals is None else round_floats(wide, decimals)
    return orjson.dumps(rounded, option=orjson.OPT_SERIALIZE_NUMPY)


def _from_table(multiples: Float64Array) -> bytes:
    """Write ten-thousandths, at least one and all from -100,000 to 100,000, as a JSON array."""
    cells = np.abs(multiples).astype(np.int64)
    # The sign bit turns n into -n - 1, which numpy counts from the table's end: -0.0 is the last cell.
    cells ^= multiples.view(np.int64) >> 63
    return b"[" + without_nuls(float_cells().take(cells).tobytes())[:-1] + b"]"


def without_nuls(cells: bytes) -> bytes:
    """Drop the NULs of cells; of the two ways, `replace` costs by the NUL and `translate` by the byte."""
    if cells.count(b"\0", 0, _SAMPLE_BYTES) <= _FEW_NULS:
        return cells.replace(b"\0", b"")
    return cells.translate(None, b"\0")


@functools.cache
def float_cells() -> npt.NDArray[np.uint64]:
    """Return the table: 0.0, 0.0001, ... 10.0, -10.0, ... -0.0001, -0.0.

    Each cell is one number and a comma as eight bytes, viewed as a uint64. Built on first use.
    """
    digits = np.arange(_SCALE)[:, None] // (1000, 100, 10, 1) % 10
    fractions = (digits + ord("0")).astype(np.uint8)
    # A digit is written if it or a later one is not zero; the first always is.
    later = np.maximum.accumulate(digits[:, ::-1], axis=1)[:, ::-1]
    fractions[:, 1:][later[:, 1:] == 0] = 0

    below_ten = np.zeros((_LIMIT, _SCALE, _CELL_BYTES), dtype=np.uint8)
    below_ten[..., 1] = (np.arange(_LIMIT) + ord("0"))[:, None]
    below_ten[..., 2] = ord(".")
    below_ten[..., 3:7] = fractions
    below_ten[..., 7] = ord(",")
    ten = np.frombuffer(b"\x0010.0,\0\0", dtype=np.uint8)
    positive = np.concatenate([below_ten.reshape(-1, _CELL_BYTES), ten[None]])
    negative = positive[::-1].copy()
    negative[:, 0] = ord("-")
    return np.concatenate([positive, negative]).view(np.uint64).reshape(-1)
