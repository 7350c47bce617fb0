"""What is known of a model class and its fields: filled in once by the plan, read by those who write instances."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from encoder.conditions import Condition
from encoder.schema import Serializer
from encoder.shapes import Shape
from encoder.writers.base import Writer

# What a model may define to compute costly fields in steps: a generator function that is given `Run.memo` and
# `Run.length_of`, yields now and then, and returns the values by the fields' names.
Hook = Callable[[Any, dict[str, Any], Callable[[list[Any]], int]], Generator[None, None, dict[str, object]]]


_HOOK: Final = "__encoder_computed__"


@dataclass(slots=True)
class FieldPlan:
    """How one field is written.

    Attributes:
        name: its name in the class, and in include and exclude.
        alias: its key where aliases are asked for.
        writer: writes its values; a plain `Writer` where only pydantic can.
        nullable: whether None is null before the writer is asked.
        excluded: left out always.
        exclude_if: leaves it out by its value.
        serializer: makes pydantic's serializer for the values of a computed field.
    """

    name: str
    alias: str
    writer: Writer
    nullable: bool = False
    excluded: bool = False
    exclude_if: Condition | None = None
    serializer: Callable[[], Serializer] | None = None


@dataclass(slots=True)
class ClassPlan:
    """How the instances of one class are written.

    Attributes:
        cls: the class.
        serializer: pydantic's own for it.
        by_alias: whether it writes aliases unasked.
        extra: the writer of values that it does not declare.
        takes_extras: whether it takes such values.
        fields: its fields by name, in declared order.
        computed: its computed fields.
        hook: computes the costly ones of these in steps.
        taken: every key that one of its fields may be written under.
    """

    cls: type[BaseModel]
    serializer: Serializer
    by_alias: bool
    extra: Writer
    takes_extras: bool = False
    fields: Mapping[str, FieldPlan] = field(default_factory=dict)
    computed: tuple[FieldPlan, ...] = ()
    hook: Hook | None = None
    taken: frozenset[str] = frozenset()

    def complete(self, fields: Mapping[str, FieldPlan], computed: tuple[FieldPlan, ...], hook: Hook | None) -> None:
        """Fill in the fields, once all the classes that they lead to have been met."""
        self.fields = fields
        self.computed = computed
        self.hook = hook
        plans = (*fields.values(), *computed)
        self.taken = frozenset({plan.name for plan in plans} | {plan.alias for plan in plans})


def hook_of(shape: Shape) -> Hook | None:
    """What computes the costly fields in steps, unless a subclass has another idea of one of them."""
    classes = shape.cls.__mro__
    owner = next((position for position, cls in enumerate(classes) if _HOOK in cls.__dict__), None)
    if owner is None:
        return None
    overridden = any(field.name in cls.__dict__ for field in shape.computed for cls in classes[:owner])
    hook: Hook = classes[owner].__dict__[_HOOK]
    return None if overridden else hook
