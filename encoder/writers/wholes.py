"""Whether a model is whole: inside of a union, pydantic minds if one lacks a declared field."""

from collections.abc import Generator, Iterator
from typing import Any, Final

from encoder.writers.base import MAX_DEPTH, Writer

# Values that are looked at in one step: a microsecond each.
_LOOKS_AT_ONCE: Final = 128


def is_whole(writer: Writer, value: Any) -> Generator[None, None, bool]:
    """Whether no model in a value lacks a declared field, looked at in steps.

    Args:
        writer: writes the value.
        value: what is to be written. Where it is deeper than can be written, the writers say so.
    """
    stack: list[Iterator[tuple[Writer, Any]]] = [iter([(writer, value)])]
    looks = 0
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            continue
        inner = found[0].inside(found[1])
        if inner is None:
            return False
        if inner and len(stack) <= MAX_DEPTH:
            stack.append(iter(inner))
        looks += 1
        if not looks % _LOOKS_AT_ONCE:
            yield None
    return True
