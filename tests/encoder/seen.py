"""What a serializer can see of the dump it runs in, as JSON data."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any


def shown(spec: object) -> object:
    """An include or exclude spec as JSON data, the same for equal specs."""
    if isinstance(spec, Mapping):
        return sorted([str(key), shown(value)] for key, value in spec.items())
    if isinstance(spec, AbstractSet | list | tuple):
        return sorted(str(item) for item in spec)
    return repr(spec)


def facts(info: Any) -> dict[str, object]:
    """All that a serializer can see of the dump it runs in."""
    return {
        "include": shown(info.include),
        "exclude": shown(info.exclude),
        "context": repr(info.context),
        "mode": info.mode,
        "flags": [
            info.by_alias,
            info.exclude_unset,
            info.exclude_defaults,
            info.exclude_none,
            getattr(info, "exclude_computed_fields", None),
            info.round_trip,
            info.serialize_as_any,
        ],
        "field": getattr(info, "field_name", None),
    }
