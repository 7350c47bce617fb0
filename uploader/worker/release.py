"""Let a finished record go a few nodes at a time: freeing all of it at once would hold the GIL for milliseconds.

Only a record that nobody else holds is taken apart, and in it only lists that nobody else holds.
"""

import sys
import weakref
from collections.abc import Callable
from typing import Any, Final

from encoder import Episode, Trace
from encoder.delta import EpisodeAssembly


def _references(held: list[Any]) -> int:
    """How many references there are to a list's last item: a few of them this call's own."""
    return sys.getrefcount(held[-1])


def _references_to_value(values: dict[str, Any], name: str) -> int:
    return sys.getrefcount(values[name])


# What these say of something that nobody else holds.
_ALONE_IN_A_LIST: Final = _references([object()])
_ALONE_IN_A_DICT: Final = _references_to_value({"key": object()}, "key")

_LISTS: Final = ("nodes", "calls", "request_rewrites", "response_rewrites")


def let_go(held: list[Any], pause: Callable[[], object]) -> None:
    """Empty a list of records.

    Args:
        held: the records; where a record's only reference is this list's, it is taken apart.
        pause: called after each part.
    """
    while held:
        if isinstance(held[-1], Episode) and _is_alone(held):
            _empty(held[-1], "traces", pause)
        elif isinstance(held[-1], Trace) and _is_alone(held):
            for name in _LISTS:
                _empty(held[-1], name, pause)
        elif isinstance(held[-1], EpisodeAssembly) and _is_alone(held):
            for _ in held[-1].let_go():
                pause()
        held.pop()
        pause()


def _is_alone(held: list[Any]) -> bool:
    return _references(held) == _ALONE_IN_A_LIST and not weakref.getweakrefcount(held[-1])


def _empty(record: Episode[Any] | Trace[Any], name: str, pause: Callable[[], object]) -> None:
    values = record.__dict__
    if type(values.get(name)) is list and _references_to_value(values, name) == _ALONE_IN_A_DICT:
        let_go(values[name], pause)
