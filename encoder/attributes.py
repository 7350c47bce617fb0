"""What a dataclass's schema says of how its instances are written, where they are read attribute by attribute."""

from types import MemberDescriptorType

from encoder.schema import Schemas, field_of, settings
from encoder.shapes import AttributesShape, Resolved, keys_differ


def attributes_of(schemas: Schemas, resolved: Resolved) -> AttributesShape | None:
    """A dataclass's attributes; None for anything else, or where more than these, or Python code, has a say.

    Args:
        schemas: those below the root class.
        resolved: one of them.
    """
    schema = resolved.schema
    if resolved.kind != "dataclass":
        return None
    # A serializer of the whole stands on the wrappers inside of it, or on the dataclass itself.
    inner = schemas.resolve(schema["schema"])
    config = schema.get("config", {})
    if inner.kind != "dataclass-args" or inner.nullable or inner.schema.get("computed_fields"):
        return None
    declared = {field["name"]: field for field in inner.schema["fields"] if not field.get("init_only")}
    if list(declared) != list(schema["fields"]) or config.get("extra_fields_behavior") == "allow":
        return None
    fields = tuple(field_of(name, field) for name, field in declared.items())
    if not keys_differ(fields) or not _are_plain(schema["cls"], tuple(declared)):
        return None
    return AttributesShape(schema["cls"], fields, bool(config.get("serialize_by_alias")), settings(config))


def _are_plain(cls: type, names: tuple[str, ...]) -> bool:
    """Whether attributes are read without any Python code: from an instance's dict, or from its slots."""
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__[:-1]):
        found |= base.__dict__
    if "__getattribute__" in found or "__getattr__" in found:
        return False
    return all(map(_is_plain, map(found.get, names)))


def _is_plain(standing: object) -> bool:
    """Whether what stands in a class has no say in how an instance's attribute is read; a slot's is the instance's."""
    kind = type(standing)
    return kind is MemberDescriptorType or not any(hasattr(kind, name) for name in ("__get__", "__set__", "__delete__"))
