"""Compile a model class, once, into the writers of its fields.

A fast writer is chosen only where both the declared type and its serialization in pydantic's schema are known exactly;
every other place gets a plain `Writer`, which vouches for nothing and so sends each value to pydantic.
"""

from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from pydantic import BaseModel

from encoder.attributes import attributes_of
from encoder.boundedness import is_bounded
from encoder.columns import COLUMN_KINDS
from encoder.compiled import IS_COMPILED
from encoder.paths import PATHS
from encoder.schema import Schemas, root_schema, serializer_of, settings
from encoder.shapes import CoreSchema, Field, Resolved, choices_of
from encoder.writers.anything import AnyWriter
from encoder.writers.base import SIMPLE_DEPTH, LazySerializer, Writer
from encoder.writers.columns import ColumnWriter
from encoder.writers.copies import CopiedWriter
from encoder.writers.dataclasses import DataclassWriter
from encoder.writers.dicts import DictWriter
from encoder.writers.fields import ClassPlan, FieldPlan, hook_of
from encoder.writers.flat import compile_flat
from encoder.writers.lists import ListWriter
from encoder.writers.models import ModelWriter
from encoder.writers.nodes import compile_node
from encoder.writers.roots import RootWriter
from encoder.writers.scalars import LiteralWriter, ScalarWriter, TextWriter
from encoder.writers.simplicity import depth_of, may_be_simple
from encoder.writers.unions import NullableWriter, TaggedWriter, UnionWriter

_SCALARS: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "none": type(None)}

# The keys of dicts that become text one by one, and never the same text.
_KEYS: Final[dict[str, type]] = {"str": str, "int": int}

# The exact types that the members of a union are told apart by. Numbers are missing: pydantic lets an int stand for a
# float, so their order would matter.
_UNION_TYPES: Final[dict[str, type]] = {"str": str, "list": list, "none": type(None)}

_COPIED: Final[dict[str, type]] = {"tuple": tuple, "set": set, "frozenset": frozenset}

# What may hold itself without being a model: an alias may name itself.
_HOLDING: Final = frozenset({"list", "dict", "union", "tagged-union", "tuple", "set", "frozenset"})

Plan: TypeAlias = ModelWriter | RootWriter


def plan_of(cls: type[BaseModel]) -> Plan | None:
    """The writer of a class; None where nothing is known of how its instances are written."""
    schema = root_schema(cls)
    if schema is None or not PATHS.plans:
        return None
    kept = PATHS.kept  # where a class keeps its plan: it goes when the class goes
    known: tuple[CoreSchema, Plan | None] | None = cls.__dict__.get(kept)
    if known is None or known[0] is not schema:  # a class may be rebuilt
        known = (schema, _Compiler(cls, schema).root())
        type.__setattr__(cls, kept, known)
    return known[1]


class _Compiler:
    """Makes the writers below one root class; recursion ends at a class that was met before."""

    def __init__(self, cls: type[BaseModel], schema: CoreSchema) -> None:
        self._schemas = Schemas(cls, schema)
        self._settings = settings(cls.model_config)
        self._models: dict[type[BaseModel], ModelWriter] = {}
        # Whether the class whose fields are being compiled writes aliases unasked.
        self._by_alias = False
        # The ids of the schemas of containers that are being compiled, below the innermost model.
        self._open: set[int] = set()
        self._simple = PATHS.simple_forms
        self._any = AnyWriter(self._schemas.any_serializer(), plan_of, simple=self._simple)

    def root(self) -> Plan | None:
        resolved = self._schemas.resolve(self._schemas.schema)
        writer = self._model(resolved) or self._root_model(resolved)
        for model in self._models.values():
            model.compiler = compile_flat
            model.node_compiler = compile_node if IS_COMPILED else None
            depth = depth_of(model, frozenset())
            model.gathered = self._simple and depth <= SIMPLE_DEPTH and may_be_simple(model.plan)
            model.levels = SIMPLE_DEPTH // depth if model.recursive and depth <= SIMPLE_DEPTH else 0
        return writer

    def _writer(self, schema: CoreSchema) -> Writer:
        """The writer of values of a schema, None among them where it allows that."""
        resolved = self._schemas.resolve(schema)
        writer = self._resolved(resolved)
        return NullableWriter(writer) if resolved.nullable and type(writer) is not Writer else writer

    def _resolved(self, resolved: Resolved) -> Writer:
        """The writer of values that are not None."""
        kind, schema = resolved.kind, resolved.schema
        if kind in _SCALARS:
            return ScalarWriter(_SCALARS[kind])
        if kind == "str":
            return TextWriter(simple=self._simple)
        if kind == "literal":
            return LiteralWriter(schema["expected"])
        if kind == "any":
            return self._any
        if kind in _HOLDING:
            return self._holding(resolved)
        if resolved.function is not None and resolved.function in COLUMN_KINDS:
            return ColumnWriter(COLUMN_KINDS[resolved.function], simple=self._simple)
        return self._model(resolved) or self._root_model(resolved) or self._dataclass(resolved) or Writer()

    def _holding(self, resolved: Resolved) -> Writer:
        """The writer of containers, or of a union of what may be some."""
        kind, schema = resolved.kind, resolved.schema
        # An alias may hold itself, like `type Tree = list[Tree]`; deeper types have no simple values either.
        if id(schema) in self._open or len(self._open) >= SIMPLE_DEPTH:
            return Writer()
        self._open.add(id(schema))
        make: dict[str, Callable[[CoreSchema], Writer]] = {
            "list": self._list,
            "dict": self._dict,
            "union": self._union,
            "tagged-union": self._tagged,
        }
        made = make.get(kind, self._copied)(schema)
        self._open.discard(id(schema))
        return made

    def _copied(self, schema: CoreSchema) -> Writer:
        """The writer of sets, or of tuples of any number of items of one type."""
        item = schema.get("items_schema")
        if schema["type"] == "tuple":
            if schema.get("variadic_item_index") != 0 or len(schema["items_schema"]) != 1:
                return Writer()
            (item,) = schema["items_schema"]
        items: CoreSchema = {"type": "list"} if item is None else {"type": "list", "items_schema": item}
        return CopiedWriter(_COPIED[schema["type"]], self._list(items))

    def _list(self, schema: CoreSchema) -> ListWriter:
        item, bounded = self._items(schema, "items_schema")
        return ListWriter(item, self._lazily(schema), simple=self._simple, bounded=bounded)

    def _items(self, schema: CoreSchema, key: str) -> tuple[Writer, bool]:
        """The writer of a container's items, and whether they are small whatever they are."""
        return (
            (self._writer(schema[key]), is_bounded(self._schemas, schema[key])) if key in schema else (self._any, False)
        )

    def _dict(self, schema: CoreSchema) -> Writer:
        keys = self._schemas.resolve(schema.get("keys_schema", {"type": "any"}))
        key_type = _KEYS.get(keys.kind)
        if key_type is None or keys.nullable:
            return Writer()
        values, bounded = self._items(schema, "values_schema")
        return DictWriter(key_type, values, self._lazily(schema), simple=self._simple, bounded=bounded)

    def _union(self, schema: CoreSchema) -> Writer:
        members: dict[type, Writer] = {}
        for choice in choices_of(schema):
            resolved = self._schemas.resolve(choice)
            exact = _UNION_TYPES.get(resolved.kind)
            if exact is None or exact in members:
                return Writer()
            members[exact] = self._resolved(resolved)
            if resolved.nullable:
                members.setdefault(type(None), ScalarWriter(type(None)))
        return UnionWriter(members, self._lazily(schema))

    def _tagged(self, schema: CoreSchema) -> Writer:
        discriminator = schema["discriminator"]
        members: dict[type, tuple[object, ModelWriter]] = {}
        if not isinstance(discriminator, str):
            return Writer()
        for tag, choice in schema["choices"].items():
            resolved = self._schemas.resolve(choice)
            writer = None if resolved.nullable else self._model(resolved)
            if writer is None or writer.plan.cls in members:
                return Writer()
            members[writer.plan.cls] = (tag, writer)
        return TaggedWriter(discriminator, members, self._lazily(schema))

    def _model(self, resolved: Resolved) -> ModelWriter | None:
        """The writer of a model class, where its fields are written one by one and under the root's settings."""
        shape = self._schemas.shape(resolved)
        if shape is None or settings(shape.cls.model_config) != self._settings or not shape.keys_differ:
            return None
        serializer = serializer_of(shape.cls)
        if serializer is None:
            return None
        writer = self._models.get(shape.cls)
        if writer is None:
            takes_extras = shape.cls.model_config.get("extra") == "allow"
            plan = ClassPlan(shape.cls, serializer, shape.by_alias, self._any, takes_extras)
            writer = self._models[shape.cls] = ModelWriter(plan)
            around, self._by_alias, self._open = (self._by_alias, self._open), shape.by_alias, set()
            fields = {field.name: self._field(field) for field in shape.fields}
            plan.complete(fields, tuple(self._computed(field) for field in shape.computed), hook_of(shape))
            self._by_alias, self._open = around
        return writer

    def _root_model(self, resolved: Resolved) -> RootWriter | None:
        """The writer of a class whose instances are written as what they hold, where that is known."""
        root = self._schemas.root_shape(resolved)
        if root is None or settings(root.cls.model_config) != self._settings or id(resolved.schema) in self._open:
            return None
        around, self._by_alias = self._by_alias, root.by_alias
        self._open.add(id(resolved.schema))
        inner = self._writer(root.schema)
        self._open.discard(id(resolved.schema))
        self._by_alias = around
        return None if type(inner) is Writer else RootWriter(root.cls, inner)

    def _dataclass(self, resolved: Resolved) -> DataclassWriter | None:
        """The writer of a dataclass's instances, where they are written attribute by attribute."""
        shape = attributes_of(self._schemas, resolved)
        is_known = shape is not None and shape.settings == self._settings
        if shape is None or not (is_known and self._simple) or id(resolved.schema) in self._open:
            return None
        around, self._by_alias = self._by_alias, shape.by_alias
        self._open.add(id(resolved.schema))
        fields = tuple(map(self._field, shape.fields))
        self._open.discard(id(resolved.schema))
        self._by_alias = around
        return DataclassWriter(shape.cls, fields, by_alias=shape.by_alias)

    def _field(self, field: Field) -> FieldPlan:
        resolved = self._schemas.resolve(field.schema)
        writer = self._resolved(resolved)
        return FieldPlan(field.name, field.alias, writer, resolved.nullable, field.excluded, field.exclude_if)

    def _computed(self, field: Field) -> FieldPlan:
        plan = self._field(field)
        if type(plan.writer) is not Writer and field.exclude_if is None:
            plan.serializer = self._lazily(field.schema)
        return plan

    def _lazily(self, schema: CoreSchema) -> LazySerializer:
        by_alias = self._by_alias
        return cache(lambda: self._schemas.serializer(schema, by_alias))
