"""Columns as JSON the plain way: each by a call of its own, floats rounded exactly before."""

import numpy as np
import orjson

from encoder.arrays import Column
from encoder.blocks import PLACE, Block
from encoder.columns import ColumnKind
from encoder.rounding import round_floats


class PlainBlock(Block):
    """A `Block` whose columns are not joined, and whose floats are looked up in no table."""

    __slots__ = ()

    def fill(self, text: bytes) -> list[bytes]:
        """Put the columns into the text of their nodes, in the places of the marks."""
        held = (iter(self.ints), iter(self.bools), iter(self.floats))
        around = text.split(PLACE)
        parts = around[:1]
        for kind, after in zip(self.order, around[1:], strict=True):
            parts += (self.text(ColumnKind(kind), next(held[kind])), after)
        self.kept = 0
        self.forget()
        return parts

    def text(self, kind: ColumnKind, column: Column) -> bytes:
        """The values of one column as JSON without brackets."""
        if kind is ColumnKind.FLOATS:
            column = np.asarray(column, dtype=np.float64)
            if self.decimals is not None:
                column = round_floats(column, self.decimals)
        return orjson.dumps(np.ascontiguousarray(column), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
