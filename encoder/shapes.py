"""What a class's schema says of how its instances are written, as plain data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from encoder.conditions import Condition

CoreSchema = dict[str, Any]


def choices_of(union: CoreSchema) -> list[CoreSchema]:
    """The schemas of a union's members, without their labels."""
    return [choice[0] if isinstance(choice, tuple) else choice for choice in union["choices"]]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A schema without its transparent wrappers.

    Attributes:
        kind: the core schema's type, like `str` or `list`; `opaque` where a custom serialization takes over.
        schema: the core schema itself.
        nullable: whether None is written as null before anything else is asked.
        function: the function of a plain serializer declared on the type, which a column can be known by.
    """

    kind: str
    schema: CoreSchema
    nullable: bool = False
    function: Callable[..., Any] | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field of a model class, or a computed one."""

    name: str
    alias: str
    schema: CoreSchema
    excluded: bool = False
    exclude_if: Condition | None = None


@dataclass(frozen=True, slots=True)
class RootShape:
    """A root model's class as its serializer sees it: what it holds, no serializer for the whole."""

    cls: type[BaseModel]
    schema: CoreSchema
    by_alias: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """A model class as its serializer sees it: its own fields, no serializer for the whole."""

    cls: type[BaseModel]
    fields: tuple[Field, ...]
    computed: tuple[Field, ...]
    by_alias: bool

    @property
    def keys_differ(self) -> bool:
        """Whether no two fields can be written under one key."""
        return keys_differ((*self.fields, *self.computed))


@dataclass(frozen=True, slots=True)
class AttributesShape:
    """A dataclass as its serializer sees it: attributes in a fixed order, no serializer for the whole."""

    cls: type
    fields: tuple[Field, ...]
    by_alias: bool
    settings: tuple[object, ...]


def keys_differ(fields: tuple[Field, ...]) -> bool:
    """Whether no two of some fields can be written under one key."""
    return len({field.name for field in fields} | {field.alias for field in fields}) == sum(
        1 if field.name == field.alias else 2 for field in fields
    )
