"""Columns of numbers held in numpy, whose serializer is known by its function."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

from encoder.arrays import Column
from encoder.blocks import WRITABLE
from encoder.columns import ColumnKind
from encoder.compiled import native
from encoder.writers.base import HEAVY, MAX_DEPTH, UNKNOWN, Run, Steps, TooDeepError, Variant, Writer

if TYPE_CHECKING:
    from encoder._native import Node

# Values of a column that go out with their neighbours; a longer column has steps of its own.
SMALL_COLUMN: Final = 8192

# The same where the compiled part writes columns: to hand a long text on to orjson would be to copy it twice.
SMALL_NATIVE_COLUMN: Final = 1024

# What a value weighs, five nanoseconds a unit. Measured: ids take 2 to 8, flags 0.1 in runs and 1 to 4 in no order,
# floats 4 to 10 by the table and 25 beyond it.
COLUMN_WEIGHTS: Final = {ColumnKind.INTS: 2, ColumnKind.BOOLS: 1, ColumnKind.FLOATS: 4}

# Values written by one call of a longer column: up to a quarter of a millisecond.
SLICES: Final = {ColumnKind.INTS: 16 * 1024, ColumnKind.BOOLS: 32 * 1024, ColumnKind.FLOATS: 8 * 1024}


class ColumnWriter(Writer):
    """Writes the column of a field."""

    __slots__ = ("_dtypes", "_most", "kind")

    depth = 1

    def __init__(self, kind: ColumnKind, *, simple: bool = True) -> None:
        """Args: what the column holds, whether it may have a simple form."""
        self.kind = kind
        self._dtypes = WRITABLE[kind]
        self._most = SMALL_COLUMN if simple else -1

    def _accepts(self, value: Any) -> bool:
        """Whether this is an array whose values are written exactly as the column's serializer lists them."""
        return type(value) is np.ndarray and value.ndim == 1 and value.dtype in self._dtypes

    def simple(self, value: Any, run: Run) -> Any:
        """The whole column, where it is short."""
        if not self._accepts(value):
            return UNKNOWN
        if self.kind is ColumnKind.FLOATS and not run.block.takes_floats:
            return UNKNOWN
        length = len(value)
        if length > self._most or (run.is_native and length > SMALL_NATIVE_COLUMN):
            return HEAVY
        run.weight += COLUMN_WEIGHTS[self.kind] * length
        return [orjson.Fragment(run.block.text(self.kind, value))]  # a list, which orjson counts as a container

    def node(self, variant: Variant) -> "Node | None":
        """Columns of the kind."""
        return native.column(self.kind)

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the column slice by slice."""
        if include is not None or exclude is not None or not self._accepts(value):
            return None
        if self.kind is ColumnKind.FLOATS and not run.block.takes_floats:
            return None
        return self._steps(value, run, depth)

    def _steps(self, value: Column, run: Run, depth: int) -> Steps:
        if depth >= MAX_DEPTH:
            raise TooDeepError
        out = run.out
        out.append(b"[")
        size = SLICES[self.kind]
        for start in range(0, len(value), size):
            if start:
                out.append(b",")
            out.append(run.block.text(self.kind, value[start : start + size]))
            yield None
        out.append(b"]")
