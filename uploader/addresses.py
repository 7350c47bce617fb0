"""Ids and filters as parts of an address: an id becomes one path segment, whatever it holds."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from uploader.arguments import usable_text
from uploader.errors import ConfigurationError

MAX_SEGMENT_CHARS = 4096
"""The service takes ids of 256 bytes, which are at most 768 characters of an address."""
_MAX_QUERY_CHARS = 48 * 1024
"""httpx takes addresses of 64 KiB."""


def segment(identifier: str) -> str:
    """An id as one path segment.

    Raises:
        ConfigurationError: it is no id; an empty one would ask for the list instead.
    """
    encoded = quote(usable_text("id", identifier), safe="")
    if not 0 < len(encoded) <= MAX_SEGMENT_CHARS:
        raise ConfigurationError("id", f"it is {'too long' if encoded else 'empty'}: no id is")
    # "." and ".." mean places in a path, and clients resolve them before they send.
    return encoded.replace(".", "%2E") if encoded in (".", "..") else encoded


def query(filters: Mapping[str, Any], known: type) -> tuple[tuple[str, str], ...]:
    """Filters as a query: None is left out, several values repeat the name, a context becomes `context.<key>`.

    Args:
        filters: names and values.
        known: the TypedDict that lists the names.

    Raises:
        TypeError: there is no such filter.
        ConfigurationError: a value cannot be asked for, such as a time without a time zone.
    """
    # A TypedDict's own annotations include those it inherits.
    unknown = sorted(filters.keys() - known.__annotations__.keys())
    if unknown:
        raise TypeError(f"there is no filter {', '.join(unknown)}")
    pairs: list[tuple[str, str]] = []
    for name, value in filters.items():
        if value is None:
            continue
        if name == "context":
            pairs += _context_pairs(value)
        elif isinstance(value, list | tuple | set | frozenset):
            pairs += [(name, _text(name, one)) for one in value]
        else:
            pairs.append((name, _text(name, value)))
    if len(urlencode(pairs)) > _MAX_QUERY_CHARS:
        raise ConfigurationError("filters", "they are too long for an address: ask in several parts")
    return tuple(pairs)


def _context_pairs(context: object) -> list[tuple[str, str]]:
    if not isinstance(context, Mapping):
        raise ConfigurationError("context", f"it must be a mapping, not {type(context).__name__}")
    return [(f"context.{usable_text('context', key)}", usable_text("context", text)) for key, text in context.items()]


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ConfigurationError(name, f"{value} has no time zone: give it one, like datetime.UTC")
        return value.isoformat()
    if value is None or isinstance(value, bytes | bytearray | Mapping):
        raise ConfigurationError(name, f"it cannot be {type(value).__name__}")
    return usable_text(name, str(value))
