"""Whether the instances of a class may have a simple form, and how deep that may be."""

from typing import Final

from encoder.conditions import is_pure
from encoder.writers.base import Writer
from encoder.writers.copies import CopiedWriter
from encoder.writers.fields import ClassPlan
from encoder.writers.models import ModelWriter

# What gives no value a simple form but None.
_WITHOUT: Final = (Writer, CopiedWriter)


def may_be_simple(plan: ClassPlan) -> bool:
    """Whether an instance may have a simple form: no field needs pydantic, no function runs that must run once only."""
    written = [field for field in plan.fields.values() if not field.excluded]
    known = all(type(field.writer) not in _WITHOUT or field.nullable for field in written)
    pure = all(not field.exclude_if or is_pure(field.exclude_if) for field in written)
    return (
        known
        and pure
        and (not plan.computed or (plan.hook is not None and all(field.serializer for field in plan.computed)))
    )


def depth_of(writer: Writer, above: frozenset[int]) -> int:
    """Containers inside each other in a simple value, one level of a class that holds itself."""
    if id(writer) in above and isinstance(writer, ModelWriter):
        writer.recursive = True  # which counts its levels when it is written
        return 0
    inner = above | {id(writer)}
    return writer.depth + max((depth_of(child, inner) for child in writer.children()), default=0)
