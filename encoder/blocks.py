"""Columns as JSON: of neighbouring nodes together, where they are short, or one by one.

A call of numpy costs more than the forty values of a short column. So the columns of neighbouring nodes are held until
the nodes are written: their ints are joined and written by one call, and so are their floats; the text falls apart at
marks that no value can produce. What the nodes are else is written with `MARK` in the place of each column.
"""

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import orjson

from encoder.arrays import Column
from encoder.columns import ColumnKind
from encoder.floats import float_texts
from encoder.splitting import split

# A column's place in the text around it. No JSON holds the byte 0xff: it is not in UTF-8.
MARK: Final = orjson.Fragment(b"[\xff]")
PLACE: Final = b"\xff"

# The element types of each kind that are written exactly; columns of the second list may also be joined to others.
WRITABLE: Final[dict[ColumnKind, frozenset[np.dtype[Any]]]] = {
    ColumnKind.INTS: frozenset(
        map(np.dtype, ("int32", "int64", "uint64", "int8", "int16", "uint8", "uint16", "uint32"))
    ),
    ColumnKind.BOOLS: frozenset({np.dtype("bool")}),
    ColumnKind.FLOATS: frozenset(map(np.dtype, ("float64", "float32", "float16"))),
}
JOINABLE: Final[dict[ColumnKind, tuple[np.dtype[Any], ...]]] = {
    ColumnKind.INTS: (np.dtype("int32"), np.dtype("int64")),
    ColumnKind.BOOLS: (np.dtype("bool"),),
    ColumnKind.FLOATS: (np.dtype("float64"), np.dtype("float32")),
}

# Ints are kept apart by this one where none is negative, as no token id is.
_APART: Final = np.array([-1], dtype=np.int32)
_APART_TEXT: Final = b",-1,"

# To take the joined text of longer columns apart costs more than a call for each.
_SHORT: Final = 256

# Runs of equal flags are cut from these: as many as one call is handed of a long column.
_CUT: Final = 32 * 1024
_TRUE: Final = b"true," * _CUT
_FALSE: Final = b"false," * _CUT
_ZEROS: Final = bytes(_CUT)

# Short columns of flags whose text is remembered: there are few masks of few flags, the same again and again.
_REMEMBERED_FLAGS: Final = 128


class Block:
    """The columns of the nodes that will be written by the next call.

    `order` has the kind of each column as it was held, and each kind its columns: a writer appends to both directly.
    """

    __slots__ = ("bools", "decimals", "floats", "ints", "kept", "order", "takes_floats")

    def __init__(self, decimals: int | None) -> None:
        """Args: the digits that floats keep after the point, None for all of them."""
        self.decimals = decimals
        # Whether floats can be rounded so; what is no integer is refused by Python's `round`, which they are left to.
        self.takes_floats = decimals is None or type(decimals) is int
        self.order: list[int] = []
        self.ints: list[Column] = []
        self.bools: list[Column] = []
        self.floats: list[Column] = []
        # How many of the columns belong to nodes that will be written; later ones may yet be forgotten.
        self.kept = 0

    def forget(self) -> None:
        """Drop the columns of a node that is written another way after all."""
        columns = (self.ints, self.bools, self.floats)
        while len(self.order) > self.kept:
            columns[self.order.pop()].pop()

    def fill(self, text: bytes) -> list[bytes]:
        """Put the columns into the text of their nodes, in the places of the marks.

        Returns:
            The parts of the whole text, to be concatenated.
        """
        kinds = (
            iter(_int_texts(self.ints)),
            iter(_bool_texts(self.bools)),
            iter(float_texts(self.floats, self.decimals)),
        )
        around = split(text, PLACE, len(self.order))
        parts = [b""] * (2 * len(around) - 1)
        parts[::2] = around
        parts[1::2] = map(next, map(kinds.__getitem__, self.order))
        for held in (self.order, self.ints, self.bools, self.floats):
            held.clear()
        self.kept = 0
        return parts

    def floats_text(self, column: Column) -> bytes:
        """The values of one column of floats as JSON without brackets."""
        return self.text(ColumnKind.FLOATS, column)

    def text(self, kind: ColumnKind, column: Column) -> bytes:
        """The values of one column as JSON without brackets."""
        if not len(column):
            return b""
        if kind is ColumnKind.FLOATS:
            return float_texts([column], self.decimals)[0]
        return _flags(column.tobytes()) if kind is ColumnKind.BOOLS else _numbers(column)


def _int_texts(columns: Sequence[Column]) -> list[bytes]:
    """The values of each column, none of them empty, as JSON without brackets."""
    if max(map(len, columns), default=0) < _SHORT:
        return _joined_ints(columns)
    short = [column for column in columns if len(column) < _SHORT]
    written = iter(_joined_ints(short))
    return [next(written) if len(column) < _SHORT else _numbers(column) for column in columns]


def _joined_ints(columns: Sequence[Column]) -> list[bytes]:
    if len(columns) < 3:
        return [_numbers(column) for column in columns]
    apart: list[Column] = [_APART] * (2 * len(columns) - 1)
    apart[::2] = columns
    joined = np.concatenate(apart)
    if np.count_nonzero(joined < 0) != len(columns) - 1:
        return [_numbers(column) for column in columns]
    return _numbers(joined).split(_APART_TEXT)


def _numbers(column: Column) -> bytes:
    return orjson.dumps(np.ascontiguousarray(column), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]


def _bool_texts(columns: Sequence[Column]) -> list[bytes]:
    """The values of each column, none of them empty, as JSON without brackets."""
    values = list(map(np.ndarray.tobytes, columns))
    if max(map(len, values), default=0) <= _REMEMBERED_FLAGS:
        return list(map(_remembered, values))
    return list(map(_flags, values))


def _flags(values: bytes) -> bytes:
    """Flags, a byte each, as JSON without brackets.

    Masks are runs: all true, all false, or some false and then true to the end.
    """
    falses = values.find(1)
    if falses < 0:
        falses = len(values)
    # What is searched for from here on is found by the C library at once; counting looks at each byte by itself.
    if values.find(0, falses) < 0 and values.startswith(_ZEROS[:falses]):
        trues = len(values) - falses
        return _FALSE[: 6 * falses] + _TRUE[: 5 * trues - 1] if trues else _FALSE[: 6 * falses - 1]
    return _numbers(np.frombuffer(values, dtype=np.uint8) != 0)


_remembered: Final = functools.lru_cache(maxsize=4096)(_flags)
