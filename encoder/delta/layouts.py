"""What is to be known of a class's fields before one of its instances is sent: made once, and used for every delta."""

from collections.abc import Container
from typing import Any, Final, NamedTuple

from encoder.conditions import is_pure
from encoder.delta.ledger import RUN, TRACES
from encoder.filters import IndexFilter, Kept, NameFilter, Unclear
from encoder.writers.base import Writer
from encoder.writers.fields import ClassPlan, FieldPlan
from encoder.writers.lists import ListWriter

GROWING: Final = frozenset({"nodes", "calls", "errors", "extra_usage", "request_rewrites", "response_rewrites"})
"""The fields that are lists, and get more items as a rollout goes on."""

HEADER: Final = frozenset({"version", "id", "verifiers", "task", "env", "group"})
"""The fields that say what a record is: looked at again where one holds another object, and by thorough deltas."""

ALL: Final = "__all__"
"""What a specification says of each item of a list, whatever its index."""

_DROPPED: Final[Kept] = (False, None, None)


class GrowingList(NamedTuple):
    """A field that is sent item by item, where its value is a list.

    Attributes:
        name: its name.
        writer: writes such lists.
        exclude: what is left out of each item, as the list's writer takes it.
    """

    name: str
    writer: ListWriter
    exclude: Any


class Layout:
    """The fields of a class whose instances have them in one order, under one specification of what is left out.

    Args:
        plan: the class's plan.
        names: the names of an instance's attributes, in order.
        exclude: what is left out.
        aliased: whether aliases are written.
        has_traces: whether `traces` are sent one by one.

    Attributes:
        keys: the keys of the fields in the record, in order.
        growing: those that are sent item by item, by their keys.
        traces: what is left out of the traces, None where they are not sent one by one.
        watched: the keys of fields that need not be written while they hold the same object, by their names.

    Raises:
        Unclear: the specification is none of the plain ones.
    """

    def __init__(
        self, plan: ClassPlan, names: tuple[str, ...], exclude: Any, *, aliased: bool, has_traces: bool
    ) -> None:
        self.keys: list[str] = []
        self.growing: dict[str, GrowingList] = {}
        self.traces: tuple[Any] | None = None
        self.watched: dict[str, str] = {}
        self._origin = (plan, exclude)  # kept, so that their ids stay their own
        self._kept: dict[str, Kept] = {}
        filter_ = NameFilter(None, exclude)
        for field in (*(plan.fields.get(name) for name in names), *plan.computed):
            kept = _DROPPED if field is None or field.excluded else filter_.of(field.name)
            if field is not None and kept[0]:
                self._kept[field.name] = kept
                self._add(field, field.alias if aliased else field.name, kept[2], has_traces=has_traces)

    def _add(self, field: FieldPlan, key: str, spec: Any, *, has_traces: bool) -> None:
        if key != field.name and field.name in (RUN, TRACES):
            raise Unclear  # these are known by their names
        self.keys.append(key)
        if field.name == TRACES and has_traces:
            self.traces = (spec,)
        elif field.name in GROWING and isinstance(field.writer, ListWriter):
            if field.exclude_if is None and is_for_each(spec):
                IndexFilter(None, spec, 1)
                self.growing[key] = GrowingList(field.name, field.writer, spec)
        elif type(field.writer) is not Writer and spec is None and (not field.exclude_if or is_pure(field.exclude_if)):
            self.watched[field.name] = key

    def filter(self, left_out: Container[str]) -> NameFilter:
        """What is written of an instance, some more fields left out."""
        return _Chosen(self._kept, left_out)


class _Chosen(NameFilter):
    """What is said of fields that have been asked about before."""

    __slots__ = ("_kept", "_left_out")

    def __init__(self, kept: dict[str, Kept], left_out: Container[str]) -> None:
        super().__init__(None, None)
        self._kept = kept
        self._left_out = left_out

    def of(self, key: str) -> Kept:
        """What is said of one field."""
        return _DROPPED if key in self._left_out else self._kept.get(key, _DROPPED)


def is_for_each(spec: Any) -> bool:
    """Whether a specification for a list says the same of each item, whatever its index."""
    return spec is None or (type(spec) is dict and spec.keys() == {ALL})
