"""Dataclasses: the simple form of a small instance, read attribute by attribute as pydantic reads it."""

from typing import TYPE_CHECKING, Any

from encoder.compiled import native
from encoder.conditions import is_pure
from encoder.writers.base import FIELD_WEIGHT, HEAVY, MAX_WEIGHT, UNKNOWN, Run, Variant, Writer
from encoder.writers.fields import FieldPlan
from encoder.writers.nodes import row_of

if TYPE_CHECKING:
    from encoder._native import Node


class DataclassWriter(Writer):
    """Writes the small instances of exactly one class; any other is left to pydantic."""

    __slots__ = ("_by_alias", "_cls", "_fields", "_is_left")

    depth = 1

    def __init__(self, cls: type, fields: tuple[FieldPlan, ...], *, by_alias: bool) -> None:
        """Args: the class, its fields in their order, whether it writes aliases unasked."""
        self._cls = cls
        self._fields = fields
        self._by_alias = by_alias
        self._is_left: bool | None = None  # known once every class that the fields lead to has been met

    def children(self) -> tuple[Writer, ...]:
        """The writers of the fields that are written."""
        return tuple(field.writer for field in self._fields if not field.excluded)

    def least_weight(self) -> int:
        """What its fields weigh."""
        return FIELD_WEIGHT * len(self._fields)

    def is_left(self) -> bool:
        """Whether one of its fields is."""
        if self._is_left is None:
            self._is_left = False  # for a class that holds itself, while this is found out
            impure = any(field.exclude_if is not None and not is_pure(field.exclude_if) for field in self._fields)
            self._is_left = impure or any(writer.is_left() for writer in self.children())
        return self._is_left

    def simple(self, value: Any, run: Run) -> Any:
        """A dict of the fields' simple forms."""
        if type(value) is not self._cls or run.exclude_unset or self.is_left():
            return UNKNOWN
        limit = run.weight + MAX_WEIGHT
        aliased = self._by_alias if run.by_alias is None else run.by_alias
        members: dict[str, Any] = {}
        for field in self._fields:
            try:
                item = getattr(value, field.name)
            except AttributeError:
                return UNKNOWN
            if field.excluded or (item is None and run.exclude_none):
                continue
            said: object = False if field.exclude_if is None else field.exclude_if(item)
            if said is True:
                continue
            written = None if item is None and field.nullable else field.writer.simple(item, run)
            if said is not False or written is UNKNOWN:
                return UNKNOWN
            if written is HEAVY or run.weight > limit:
                return HEAVY
            members[field.alias if aliased else field.name] = written
        run.weight += FIELD_WEIGHT * len(members)
        return members

    def node(self, variant: Variant) -> "Node | None":
        """What the compiled part is told of the class."""
        if self.is_left():
            return None
        aliased = self._by_alias if variant[1] is None else variant[1]
        rows = tuple(row_of(field, aliased, variant) for field in self._fields)
        return native.attributes(self._cls, rows, variant[0])
