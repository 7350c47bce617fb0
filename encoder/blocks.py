"""Many short columns as JSON, by few calls.

A call of numpy costs more than the forty values of a short column. So the columns of neighbouring nodes are held until
the nodes are written: their ints are joined and written by one call, and so are their floats; the text falls apart at
marks that no value can produce. What the nodes are else is written with `MARK` in the place of each column.
"""

import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from encoder.floats import TABLE_DECIMALS, encode_floats, float_cells, without_nuls
from encoder.rounding import nearest_multiples

# A column's place in the text around it. No JSON holds the byte 0xff: it is not in UTF-8.
MARK: Final = orjson.Fragment(b"[\xff]")
_PLACE: Final = b"\xff"

# Ints are kept apart by this one where none is negative, as no token id is.
_APART: Final = np.array([-1], dtype=np.int32)
_APART_TEXT: Final = b",-1,"

# The table of floats ends at ten (encoder/floats.py).
_TABLE_LIMIT: Final = 10

# Constant columns are cut from these.
_CUT: Final = 2048
_TRUE: Final = b"true," * _CUT
_FALSE: Final = b"false," * _CUT

INTS: Final = 0
BOOLS: Final = 1
FLOATS: Final = 2

AnyColumn = npt.NDArray[Any]


class Block:
    """The columns of the nodes that will be written by the next call.

    `order` has the kind of each column as it was held, and each kind its columns: a writer appends to both directly.
    """

    __slots__ = ("_decimals", "bools", "floats", "ints", "kept", "order")

    def __init__(self, decimals: int | None) -> None:
        """Args: the digits that floats keep after the point, None for all of them."""
        self._decimals = decimals
        self.order: list[int] = []
        self.ints: list[AnyColumn] = []
        self.bools: list[AnyColumn] = []
        self.floats: list[AnyColumn] = []
        # How many of the columns belong to nodes that will be written; later ones may yet be forgotten.
        self.kept = 0

    def forget(self) -> None:
        """Drop the columns of a node that is written another way after all."""
        columns = (self.ints, self.bools, self.floats)
        while len(self.order) > self.kept:
            columns[self.order.pop()].pop()

    def fill(self, text: bytes) -> bytes:
        """Put the columns into the text of their nodes, in the places of the marks."""
        kinds = (
            iter(_int_texts(self.ints)),
            iter([_bool_text(column) for column in self.bools]),
            iter(_float_texts(self.floats, self._decimals)),
        )
        around = text.split(_PLACE)
        parts = [b""] * (2 * len(around) - 1)
        parts[::2] = around
        parts[1::2] = [next(kinds[kind]) for kind in self.order]
        for held in (self.order, self.ints, self.bools, self.floats):
            held.clear()
        self.kept = 0
        return b"".join(parts)


def _int_texts(columns: list[AnyColumn]) -> list[bytes]:
    """The values of each column, none of them empty, as JSON without brackets."""
    if len(columns) < 3:
        return [_numbers(column) for column in columns]
    apart: list[AnyColumn] = [_APART] * (2 * len(columns) - 1)
    apart[::2] = columns
    joined = np.concatenate(apart)
    if np.count_nonzero(joined < 0) != len(columns) - 1:
        return [_numbers(column) for column in columns]
    return _numbers(joined).split(_APART_TEXT)


def _numbers(column: AnyColumn) -> bytes:
    return orjson.dumps(np.ascontiguousarray(column), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]


def _bool_text(column: AnyColumn) -> bytes:
    """The values of a column, not empty, as JSON without brackets.

    Masks are runs: all true, all false, or some false and then true to the end.
    """
    values = column.tobytes()
    length = len(values)
    trues = values.count(1)
    if length > _CUT:
        return _numbers(column)
    if trues == length:
        return _TRUE[: 5 * length - 1]
    if not trues:
        return _FALSE[: 6 * length - 1]
    falses = length - trues
    if values.find(1) == falses:
        return _FALSE[: 6 * falses] + _TRUE[: 5 * trues - 1]
    return _numbers(column)


def _float_texts(columns: list[AnyColumn], decimals: int | None) -> list[bytes]:
    """The values of each column, none of them empty, as JSON without brackets."""
    if decimals == TABLE_DECIMALS and len(columns) > 1:
        joined = np.concatenate(columns, dtype=np.float64)
        # A NaN compares as False: the table has no cell for it.
        if np.abs(joined).max() < _TABLE_LIMIT:
            multiples = nearest_multiples(joined, TABLE_DECIMALS)
            cells = np.abs(multiples).astype(np.int64)
            table, last = _cells_with_ends()
            # As in encoder/floats.py: the sign bit turns n into -n - 1, counted from the end of the table's half.
            signs = multiples.view(np.int64) >> 63
            cells ^= signs
            cells += signs & last
            cells[np.cumsum([len(column) for column in columns]) - 1] += last
            return without_nuls(table.take(cells).tobytes()).split(b"]")[:-1]
    return [encode_floats(column, decimals)[1:-1] for column in columns]


@functools.cache
def _cells_with_ends() -> tuple[npt.NDArray[np.uint64], int]:
    """The table of floats, and behind it the same with `]` for the comma; and the length of one of the two."""
    cells = float_cells()
    ends = cells.view(np.uint8).copy()
    ends[ends == ord(",")] = ord("]")
    return np.concatenate([cells, ends.view(np.uint64)]), len(cells)
