"""Whether values of a schema are small whatever they are: numbers, dates, texts, and what is made of a few of these.

Pydantic dumps such a value in about a microsecond (a text it takes over as it is), so how many are dumped by one call
can be told by their number alone. A serializer of the user's counts as one: nothing can divide its call.
"""

from typing import Final

from encoder.schema import Schemas
from encoder.shapes import CoreSchema

_SMALL: Final = frozenset(
    {"bool", "date", "datetime", "decimal", "enum", "float", "int", "literal", "multi-host-url", "none", "opaque"}
    | {"str", "time", "timedelta", "url", "uuid"}
)

# Models inside each other that are looked into; a class that holds itself is not bounded.
_MOST_LEVELS: Final = 4


def is_bounded(schemas: Schemas, schema: CoreSchema, levels: int = _MOST_LEVELS) -> bool:
    """Whether values of a schema are small, all of them that are as declared.

    Args:
        schemas: those below the root class.
        schema: one of them.
        levels: the models inside each other that may be looked into.
    """
    resolved = schemas.resolve(schema)
    if resolved.kind in _SMALL:
        return True
    if resolved.kind == "union":
        choices = resolved.schema["choices"]
        return all(is_bounded(schemas, each[0] if isinstance(each, tuple) else each, levels) for each in choices)
    if resolved.kind == "tuple" and resolved.schema.get("variadic_item_index") is None:
        return all(is_bounded(schemas, each, levels) for each in resolved.schema["items_schema"])
    shape = schemas.shape(resolved) if levels else None
    if shape is None or shape.cls.model_config.get("extra") == "allow":
        return False
    return all(is_bounded(schemas, field.schema, levels - 1) for field in shape.fields)
