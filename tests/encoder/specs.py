"""Dump arguments: nested include and exclude specs, right and odd ones, and every other keyword."""

import inspect
import types
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import BaseModel

from tests.encoder import zoo

NAMES = ["a", "b", "c", "d", "e", "f", "x1", "z", "k", "kind", "kids", "__all__"]
INDICES = [0, 1, 2, -1, -2, 5]

keys = st.sampled_from(NAMES) | st.sampled_from(INDICES)
marks: SearchStrategy[Any] = st.sampled_from([True, ...])
odd: SearchStrategy[Any] = st.sampled_from(
    [
        None,
        False,
        1,
        0,
        "a",
        "",
        {},
        set(),
        [],
        (),
        ["a", 0],
        ("__all__",),
        frozenset({0, "b"}),
        types.MappingProxyType({"a": True, 0: True}),
    ]
)


def specs(depth: int = 3, oddity: int = 12) -> SearchStrategy[Any]:
    """Nested specs; one value in `oddity` is an odd one (0: none)."""
    sets = st.sets(keys, max_size=3)
    if depth == 0:
        return sets
    below = specs(depth - 1, oddity)
    usual = st.one_of(marks, below, below)
    inner = st.integers(0, oddity).flatmap(lambda n: usual if n else odd) if oddity else usual
    return st.one_of(st.dictionaries(keys, inner, max_size=3), st.dictionaries(keys, inner, max_size=3), sets)


KNOWN = inspect.signature(BaseModel.model_dump).parameters
FLAGS = [
    name
    for name in (
        "exclude_unset",
        "exclude_defaults",
        "exclude_none",
        "exclude_computed_fields",
        "round_trip",
        "serialize_as_any",
        "polymorphic_serialization",
    )
    if name in KNOWN  # the oldest supported pydantic knows fewer
]


@st.composite
def dump_arguments(draw: st.DrawFn, *, filters: bool = True) -> dict[str, Any]:
    """Keyword arguments for `model_dump`, most of them left out."""
    chosen: dict[str, Any] = {}
    if filters and draw(st.integers(0, 2)):
        chosen["exclude"] = draw(specs())
    if filters and not draw(st.integers(0, 4)):
        chosen["include"] = draw(specs())
    for flag in FLAGS:
        if not draw(st.integers(0, 4)):
            chosen[flag] = draw(st.booleans())
    rare: dict[str, SearchStrategy[Any]] = {
        "by_alias": st.sampled_from([True, False, None]),
        "context": st.sampled_from([None, {"float_decimals": 2}, "text"]),
        "warnings": st.sampled_from([False, "none", "warn", True]),
        "fallback": st.sampled_from(zoo.FALLBACKS),
    }
    for name, strategy in rare.items():
        if not draw(st.integers(0, 3)):
            chosen[name] = draw(strategy)
    if not draw(st.integers(0, 29)):
        chosen["warnings"] = "error"
    return chosen
