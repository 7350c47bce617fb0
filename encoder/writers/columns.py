"""Columns of numbers held in numpy, whose serializer is known by its function."""

from collections.abc import Callable
from typing import Any, Final

from encoder.arrays import Column
from encoder.columns import ColumnCodec
from encoder.writers.base import HEAVY, MAX_DEPTH, UNKNOWN, Run, Steps, TooDeepError, Writer, dumps

# Values of a column that go out with their neighbours; a longer column has steps of its own.
SMALL_COLUMN: Final = 2048

# Values written by one call: 8,192 take 20 to 190 microseconds, by their type.
_SLICE: Final = 8192


class ColumnWriter(Writer):
    """Writes the column of a field."""

    __slots__ = ("_codec", "function")

    depth = 1

    def __init__(self, function: Callable[..., Any], codec: ColumnCodec) -> None:
        """Args: the column's serializer function, and how it is equalled."""
        self.function = function
        self._codec = codec

    def simple(self, value: Any, run: Run) -> Any:
        """The whole column, where it is short."""
        if not self._codec.accepts(value):
            return UNKNOWN
        length = len(value)
        if length > SMALL_COLUMN:
            return HEAVY
        run.weight += 8 * length
        return self._codec.writable(value, run.context)

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write the column slice by slice."""
        if include is not None or exclude is not None or not self._codec.accepts(value):
            return None
        return self._steps(value, run, depth)

    def _steps(self, value: Column, run: Run, depth: int) -> Steps:
        if depth >= MAX_DEPTH:
            raise TooDeepError
        prefix = b"["
        for start in range(0, len(value), _SLICE):
            written = self._codec.writable(value[start : start + _SLICE], run.context)
            run.out.append(prefix + dumps(written, depth)[1:-1])
            prefix = b","
            yield None
        run.out.append(b"]" if prefix == b"," else b"[]")
