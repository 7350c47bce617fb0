"""Columns as JSON by the compiled part: each by a call of its own, which costs less than to join them."""

from encoder.arrays import Column
from encoder.blocks import PLACE, Block
from encoder.columns import ColumnKind
from encoder.compiled import native
from encoder.floats import TABLE_DECIMALS
from encoder.splitting import split


class NativeBlock(Block):
    """A `Block` whose columns are written by the compiled part, but for those that it does not know."""

    __slots__ = ()

    def fill(self, text: bytes) -> list[bytes]:
        """Put the columns into the text of their nodes, in the places of the marks."""
        held = (iter(self.ints), iter(self.bools), iter(self.floats))
        around = split(text, PLACE, len(self.order))
        parts = [b""] * (2 * len(around) - 1)
        parts[::2] = around
        parts[1::2] = [self.text(ColumnKind(kind), next(held[kind])) for kind in self.order]
        self.kept = 0
        self.forget()
        return parts

    def text(self, kind: ColumnKind, column: Column) -> bytes:
        """The values of one column as JSON without brackets."""
        if kind is ColumnKind.FLOATS and self.decimals != TABLE_DECIMALS:
            return super().text(kind, column)
        text = native.column_text(column, kind)
        return super().text(kind, column) if text is None else text
