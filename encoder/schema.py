"""Pydantic's internals, touched here alone: what a class's core schema says of how it is serialized.

Pydantic describes a class by a *core schema*, a tree of dicts. Its serializer follows that tree through wrappers that
matter to validation alone (defaults, validators), and stops where a `serialization` key says that something else
writes the value. `Schemas.resolve` does the same, so that a plan is made from what pydantic itself will do.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import GetSetDescriptorType
from typing import Any, Final, TypeGuard

import orjson
from pydantic import BaseModel, RootModel
from pydantic_core import PydanticSerializationError, SchemaSerializer
from pydantic_core import core_schema as core

from encoder.shapes import CoreSchema, Field, Resolved, RootShape, Shape

# Dumps values of one schema to Python objects.
Serializer = SchemaSerializer

# Wrappers that validation needs and serialization passes through, and where the schema behind them stands.
_TRANSPARENT = {
    "default": "schema",
    "function-before": "schema",
    "function-after": "schema",
    "function-wrap": "schema",
    "custom-error": "schema",
    "lax-or-strict": "strict_schema",
    "json-or-python": "json_schema",
}

# Settings that change how values are written. A nested class whose settings differ from the root's is left to
# pydantic whole: inferred values below it follow the root's settings, declared ones its own.
_SETTINGS = (
    "ser_json_timedelta",
    "ser_json_temporal",
    "ser_json_bytes",
    "ser_json_inf_nan",
    "polymorphic_serialization",
)


def settings(config: Mapping[str, Any]) -> tuple[object, ...]:
    """The settings in a configuration that change how values are written."""
    return tuple(map(config.get, _SETTINGS))


def root_schema(cls: type[BaseModel]) -> CoreSchema | None:
    """The class's core schema, None where pydantic has not completed the class or `model_dump` is its own."""
    if not cls.__pydantic_complete__ or cls.model_dump is not BaseModel.model_dump:
        return None
    schema = cls.__dict__.get("__pydantic_core_schema__")
    return schema if isinstance(schema, dict) else None


def serializer_of(cls: type[BaseModel]) -> SchemaSerializer | None:
    """The class's own serializer, None where pydantic has not completed the class."""
    serializer = cls.__dict__.get("__pydantic_serializer__")
    return serializer if isinstance(serializer, SchemaSerializer) else None


def is_model(value: object) -> TypeGuard[BaseModel]:
    """Whether the value is an instance of a pydantic model."""
    return isinstance(value, BaseModel)


def is_root_model(value: object) -> TypeGuard[RootModel[Any]]:
    """Whether the value is an instance of a model that is written as what it holds."""
    return isinstance(value, RootModel)


def extras_of(model: BaseModel) -> dict[str, Any] | None:
    """The values of keys that the class does not declare, None where it takes none."""
    return model.__pydantic_extra__


read_extras: Final[Callable[[BaseModel], Any]] = attrgetter("__pydantic_extra__")
"""What `extras_of` does, for the compiled part: no frame of Python's for each instance."""


def has_plain_attributes(cls: type[BaseModel]) -> bool:
    """Whether the attributes of instances are read as those of any object: the values are what `__dict__` holds."""
    found = next(base.__dict__["__dict__"] for base in cls.__mro__ if "__dict__" in base.__dict__)
    return type(found) is GetSetDescriptorType and cls.__getattribute__ is object.__getattribute__


def fields_set_of(model: BaseModel) -> set[str]:
    """The names of the fields that were given a value."""
    return model.__pydantic_fields_set__


def private_of(model: BaseModel) -> Mapping[str, Any] | None:
    """The values of private attributes, None where the class has none."""
    return model.__pydantic_private__


def generic_of(cls: type[BaseModel]) -> tuple[Any, tuple[Any, ...]]:
    """The class that was parametrized to make this one, None where there is none, and the arguments."""
    metadata = cls.__pydantic_generic_metadata__
    return metadata["origin"], metadata["args"]


def stand_in(model: BaseModel, values: dict[str, Any]) -> BaseModel:
    """An instance like the model, with the values that it had before somebody changed them."""
    copy = model.__class__.__new__(model.__class__)
    object.__setattr__(copy, "__dict__", values.copy())
    object.__setattr__(copy, "__pydantic_fields_set__", model.__pydantic_fields_set__)
    object.__setattr__(copy, "__pydantic_extra__", model.__pydantic_extra__)
    object.__setattr__(copy, "__pydantic_private__", model.__pydantic_private__)
    return copy


def _minds_included() -> bool:
    field = core.typed_dict_field(core.int_schema())
    union = core.union_schema([core.typed_dict_schema({"a": field, "b": field}), core.int_schema()])
    try:
        SchemaSerializer(union).to_python({"a": 1, "b": 2}, include={"a"}, warnings="error")
    except PydanticSerializationError:
        return True
    return False


# Whether a member of a union warns that it lacks the fields that `include` leaves out, as before pydantic 2.13.
UNIONS_MIND_INCLUDE: Final = _minds_included()


def infer(arguments: Mapping[str, Any]) -> Callable[[Any], bytes]:
    """What writes any value by its run-time type, to find the part of a refused one that is at fault."""
    serializer = SchemaSerializer(core.any_schema())
    quiet = {**arguments, "warnings": False}
    return lambda value: orjson.dumps(serializer.to_python(value, mode="json", **quiet))


class Schemas:
    """The core schemas below one root class: wrappers taken off, references followed."""

    def __init__(self, root: type[BaseModel], schema: CoreSchema) -> None:
        self.root = root
        self.schema = schema
        self._definitions: dict[str, CoreSchema] = {}
        self._config: dict[str, Any] = {
            name: root.model_config[name]  # type: ignore[literal-required]
            for name in _SETTINGS
            if name in root.model_config
        }
        self._collect(schema)

    def _collect(self, schema: CoreSchema) -> None:
        while schema.get("type") == "definitions":
            for definition in schema["definitions"]:
                self._definitions[definition["ref"]] = definition
            schema = schema["schema"]

    def resolve(self, schema: CoreSchema) -> Resolved:
        """Take off what only validation needs and follow references; stop at a custom serialization."""
        nullable = False
        for _ in range(100):  # references that only lead to each other end as opaque
            serialization = schema.get("serialization")
            if serialization is not None:
                if serialization.get("type") == "any":
                    return Resolved("any", schema, nullable)
                return Resolved("opaque", schema, nullable, _type_level_function(serialization))
            kind = schema["type"]
            if kind == "definitions":
                schema = schema["schema"]
            elif kind == "definition-ref":
                found = self._definitions.get(schema["schema_ref"])
                if found is None:
                    break
                schema = found
            elif kind == "nullable":
                nullable = True
                schema = schema["schema"]
            elif kind in _TRANSPARENT:
                schema = schema[_TRANSPARENT[kind]]
            else:
                return Resolved(kind, schema, nullable)
        return Resolved("opaque", schema, nullable)

    def shape(self, resolved: Resolved) -> Shape | None:
        """A model class's fields; None for anything that is not written field by field."""
        schema = resolved.schema
        if resolved.kind != "model" or schema.get("root_model"):
            return None
        # A serializer of the whole model stands on the wrappers inside of it, or on the model itself.
        inner = self.resolve(schema["schema"])
        if inner.kind != "model-fields" or inner.nullable:
            return None
        cls = schema["cls"]
        fields = tuple(field_of(name, field) for name, field in inner.schema["fields"].items())
        computed = tuple(
            Field(
                field["property_name"],
                field.get("alias", field["property_name"]),
                field["return_schema"],
                exclude_if=field.get("serialization_exclude_if"),
            )
            for field in inner.schema.get("computed_fields", ())
        )
        if "extras_schema" in inner.schema:
            return None
        return Shape(cls, fields, computed, bool(cls.model_config.get("serialize_by_alias")))

    def root_shape(self, resolved: Resolved) -> RootShape | None:
        """What a root model's class holds; None for anything else."""
        schema = resolved.schema
        if resolved.kind != "model" or not schema.get("root_model"):
            return None
        cls = schema["cls"]
        return RootShape(cls, schema["schema"], bool(cls.model_config.get("serialize_by_alias")))

    def serializer(self, schema: CoreSchema, by_alias: bool) -> SchemaSerializer:
        """A serializer for a part of the root's schema, under the root's settings.

        Args:
            schema: the part.
            by_alias: whether the class that declares it writes aliases unasked: what has no settings of its own, like
                a TypedDict, follows it.
        """
        definitions = list(self._definitions.values())
        whole: Any = {"type": "definitions", "schema": schema, "definitions": definitions} if definitions else schema
        config: Any = {**self._config, "serialize_by_alias": by_alias}
        return SchemaSerializer(whole, config)

    def any_serializer(self) -> SchemaSerializer:
        """A serializer that infers how to write a value, under the root's settings."""
        config: Any = self._config
        return SchemaSerializer(core.any_schema(), config)


def field_of(name: str, field: CoreSchema) -> Field:
    """A field of a model or a dataclass, by its schema."""
    return Field(
        name,
        field.get("serialization_alias", name),
        field["schema"],
        bool(field.get("serialization_exclude")),
        field.get("serialization_exclude_if"),
    )


def _type_level_function(serialization: CoreSchema) -> Callable[..., Any] | None:
    if serialization.get("type") != "function-plain" or serialization.get("is_field_serializer"):
        return None
    if serialization.get("when_used", "always") not in ("always", "json", "unless-none", "json-unless-none"):
        return None
    function = serialization["function"]
    return function if callable(function) else None
