"""What `to_json` takes besides the model: the arguments of `model_dump`, all but `mode`."""

from collections.abc import Callable
from types import NoneType
from typing import Any, Final, TypedDict

# Arguments that change what is written everywhere: the whole record is dumped by pydantic.
_WHOLE_ARGUMENTS: Final = ("exclude_defaults", "round_trip", "serialize_as_any", "polymorphic_serialization")
_FLAGS: Final = (
    "exclude_unset",
    "exclude_defaults",
    "exclude_none",
    "exclude_computed_fields",
    "round_trip",
    "serialize_as_any",
)


class DumpArguments(TypedDict, total=False):
    """The arguments of `BaseModel.model_dump`, all but `mode`, which is always "json"."""

    include: Any
    exclude: Any
    context: Any
    by_alias: bool | None
    exclude_unset: bool
    exclude_defaults: bool
    exclude_none: bool
    exclude_computed_fields: bool
    round_trip: bool
    warnings: Any
    fallback: Callable[[Any], Any] | None
    serialize_as_any: bool
    polymorphic_serialization: bool | None


def refuse_unknown(arguments: dict[str, Any]) -> None:
    """Refuse what `model_dump` does not take.

    Raises:
        TypeError: an argument is none of its.
    """
    unknown = arguments.keys() - DumpArguments.__annotations__.keys()
    if unknown:
        raise TypeError(f"no argument of model_dump (mode is always 'json'): {', '.join(sorted(unknown))}")


def is_plain(arguments: dict[str, Any]) -> bool:
    """Whether the arguments are such that a plan can follow them; pydantic refuses what is none of their values."""
    return (
        not any(arguments.get(name) for name in _WHOLE_ARGUMENTS)
        and all(type(arguments.get(name, False)) is bool for name in _FLAGS)
        and type(arguments.get("by_alias")) in (bool, NoneType)
        and (type(arguments.get("warnings", True)) is bool or arguments["warnings"] in ("none", "warn", "error"))
    )
