"""Python lists of numbers: whether each is exactly of the declared type, asked of orjson's text rather than of each.

Looking at the type of each of 900 numbers takes 18 microseconds, four times what orjson takes to write them. But text
tells: what is no int, such as a bool, a float or None, has other characters in it. Subclasses are not written at all;
members of an Enum are, by their values, which need not be what pydantic writes. `marshal` refuses these, and any other
object that is not exactly one of Python's own types, in half the time.
"""

import marshal
import operator
from types import NoneType
from typing import Any, Final

import orjson

_NO_SUBCLASS: Final = orjson.OPT_PASSTHROUGH_SUBCLASS

# The format that has floats as eight bytes, and looks for no object that it has met before.
_MARSHAL_VERSION: Final = 2

_EMPTY: Final = b"[]"

# The characters of nothing but such values, the brackets of the list aside.
_CHARACTERS: Final[dict[type, bytes]] = {int: b"0123456789-,", bool: b"truefals,"}


def exact_text(kind: type, items: list[Any]) -> bytes | None:
    """The list as JSON, where every item is exactly of a type; None where one is not, or that cannot be told.

    Args:
        kind: int, float, bool or NoneType.
        items: the list.
    """
    try:
        text = orjson.dumps(items, option=_NO_SUBCLASS)
        if kind is not NoneType:
            marshal.dumps(items, _MARSHAL_VERSION)
    except (TypeError, ValueError):
        return None
    characters = _CHARACTERS.get(kind)
    if characters is not None:
        return text if text.translate(None, characters) == _EMPTY else None
    # A float has one point, unless it is 1e300 or null.
    if kind is float and text.count(b".") == len(items) and b'"' not in text and b"{" not in text:
        return text if text.find(b"[", 1) < 0 else None
    return text if all_are(kind, items) else None


def all_are(kind: type, items: list[Any]) -> bool:
    """Whether every item is of a type, as `exact_text` tells."""
    if kind in _CHARACTERS:
        return exact_text(kind, items) is not None
    return operator.countOf(map(type, items), kind) == len(items)
