"""Compile a model class into a node, which is what the compiled part is told of its instances.

The counterpart of `flat`: an instance that is exactly what its class declares is written without Python.
"""

from typing import TYPE_CHECKING, Any

import orjson

from encoder.compiled import native
from encoder.schema import has_plain_attributes, read_extras
from encoder.writers.base import Variant
from encoder.writers.fields import FieldPlan
from encoder.writers.models import ModelWriter

if TYPE_CHECKING:
    from encoder._native import Node


def compile_node(writer: ModelWriter, variant: Variant) -> "Node | None":
    """The node of a class's instances.

    There is none where one may hold another of its class or has what must be computed, or the class reads attributes
    in its own way.

    Args:
        writer: the class's writer.
        variant: what the run decides.
    """
    plan = writer.plan
    if not writer.gathered or writer.recursive or plan.computed or plan.hook is not None:
        return None
    if not has_plain_attributes(plan.cls):
        return None
    aliased = plan.by_alias if variant[1] is None else variant[1]
    fields = tuple(row_of(field, aliased, variant) for field in plan.fields.values())
    return native.model(plan.cls, fields, variant[0], read_extras if plan.takes_extras else None, plan.taken)


def row_of(field: FieldPlan, aliased: bool, variant: Variant) -> tuple[str, bytes, "Node | None", bool, bool, Any]:
    """What the compiled part is told of a field."""
    key = b"," + orjson.dumps(field.alias if aliased else field.name) + b":"
    node = None if field.excluded else field.writer.node(variant)
    return field.name, key, node, field.nullable, field.excluded, field.exclude_if
