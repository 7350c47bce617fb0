"""Whether values of a schema are small whatever they are: numbers, dates, texts, and what is made of a few of these.

Pydantic dumps such a value in about a microsecond (a text it takes over as it is), so how many are dumped by one call
can be told by their number alone. A serializer of the user's counts as one: nothing can divide its call.
"""

from typing import Final

from encoder.schema import Schemas
from encoder.shapes import CoreSchema, Resolved, choices_of

_SMALL: Final = frozenset(
    {"bool", "date", "datetime", "decimal", "enum", "float", "int", "literal", "multi-host-url", "none", "opaque"}
    | {"str", "time", "timedelta", "url", "uuid"}
)

# Unions, models and the like inside each other that are looked into; a class that holds itself is not bounded.
_MOST_LEVELS: Final = 6


def is_bounded(schemas: Schemas, schema: CoreSchema, levels: int = _MOST_LEVELS) -> bool:
    """Whether values of a schema are small, all of them that are as declared.

    Args:
        schemas: those below the root class.
        schema: one of them.
        levels: how many unions, models and the like inside each other may be looked into.
    """
    resolved = schemas.resolve(schema)
    if resolved.kind in _SMALL:
        return True
    parts = _parts(schemas, resolved) if levels else None
    return parts is not None and all(is_bounded(schemas, part, levels - 1) for part in parts)


def _parts(schemas: Schemas, resolved: Resolved) -> list[CoreSchema] | None:
    """The schemas of what a value holds, or of what it may be; None where it may hold any number of values."""
    kind, schema = resolved.kind, resolved.schema
    if kind == "union":
        return choices_of(schema)
    if kind == "tuple" and schema.get("variadic_item_index") is None:
        return list(schema["items_schema"])
    if kind == "dataclass":
        schema = schemas.resolve(schema["schema"]).schema
    if schema["type"] in ("dataclass-args", "named-tuple"):
        return [field["schema"] for field in schema["fields"]]
    if kind == "typed-dict" and schema.get("extra_behavior") != "allow":
        return [field["schema"] for field in schema["fields"].values()]
    shape = schemas.shape(resolved)
    if shape is None or shape.cls.model_config.get("extra") == "allow":
        return None
    return [field.schema for field in shape.fields]
