"""Columns of numbers held in numpy, whose serializer is known by its function."""

from typing import Any, Final

import numpy as np
import orjson

from encoder.arrays import Column
from encoder.blocks import WRITABLE
from encoder.columns import ColumnKind
from encoder.writers.base import HEAVY, MAX_DEPTH, UNKNOWN, Run, Steps, TooDeepError, Writer

# Values of a column that go out with their neighbours; a longer column has steps of its own.
SMALL_COLUMN: Final = 2048

# Values written by one call: floats take up to 60 microseconds.
_SLICE: Final = 4096


class ColumnWriter(Writer):
    """Writes the column of a field."""

    __slots__ = ("_dtypes", "kind")

    depth = 1

    def __init__(self, kind: ColumnKind) -> None:
        """Args: what the column holds."""
        self.kind = kind
        self._dtypes = WRITABLE[kind]

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
        if length > SMALL_COLUMN:
            return HEAVY
        run.weight += 8 * length
        return orjson.Fragment(b"[" + run.block.text(self.kind, value) + b"]")

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
        for start in range(0, len(value), _SLICE):
            if start:
                out.append(b",")
            out.append(run.block.text(self.kind, value[start : start + _SLICE]))
            yield None
        out.append(b"]")
