"""Values of untidy chats as text and as what a record can hold."""

import json
from collections.abc import Mapping
from typing import Any

import orjson

_RESERVED_DEPTH = 66
"""orjson writes 254 levels, pydantic reads 200, and an episode keeps a value up to 12 levels deep in itself."""


def json_text(value: object) -> str:
    """Return a value as JSON text: mappings as objects, and what JSON does not know as `str` shows it.

    Raises:
        TypeError, ValueError, RecursionError: a key is no string or number, or the value contains itself.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def text_of(value: object) -> str:
    """Return a value as text: null as an empty one, what is no text as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value)


def is_storable(value: object) -> bool:
    """Whether a record can hold a value as it is, and be read again."""
    for _ in range(_RESERVED_DEPTH):
        value = [value]
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return False
    return True


def storable(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return named values such that a record can hold them: one that it cannot, such as 2**64, is its JSON as text.

    Raises:
        TypeError, ValueError, RecursionError: one cannot be written as JSON at all, such as one that contains itself.
    """
    return {
        _sound(str(key)): value if is_storable(value) else json.dumps(value, default=_plain)
        for key, value in values.items()
    }


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _sound(text: str) -> str:
    """Return text with its lone surrogates escaped."""
    return text.encode(errors="backslashreplace").decode()
