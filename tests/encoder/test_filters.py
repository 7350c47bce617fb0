"""What the plain forms of include and exclude say, against pydantic; the others are left to it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from encoder.filters import IndexFilter, NameFilter, Unclear


class Inner(BaseModel):
    a: int = 1
    b: int = 2


class Outer(BaseModel):
    x: int = 1
    inner: Inner = Inner()
    items: list[Inner] = [Inner(), Inner(), Inner()]


names = st.sampled_from(["x", "inner", "items", "a", "b", "missing"])
leaves = st.one_of(st.just(True), st.just(...))
specifications = st.recursive(
    st.one_of(st.sets(names, max_size=3), st.dictionaries(names, leaves, max_size=3)),
    lambda inner: st.one_of(
        st.dictionaries(names, st.one_of(leaves, inner), max_size=3),
        st.dictionaries(st.one_of(st.integers(-4, 4), st.just("__all__")), st.one_of(leaves, inner), max_size=3),
        st.sets(st.integers(-4, 4), max_size=2),
    ),
    max_leaves=5,
)


def filtered(value: Any, include: Any, exclude: Any) -> Any:
    """A dump by the filters, the slow way."""
    if isinstance(value, BaseModel):
        by_name = NameFilter(include, exclude)
        said = {name: by_name.of(name) for name in value.__dict__}
        return {name: filtered(getattr(value, name), *rest) for name, (kept, *rest) in said.items() if kept}
    if isinstance(value, list):
        by_index = IndexFilter(include, exclude, len(value))
        kept_items = [(item, by_index.of(index)) for index, item in enumerate(value)]
        return [filtered(item, *rest) for item, (kept, *rest) in kept_items if kept]
    return value


@given(st.one_of(st.none(), specifications), st.one_of(st.none(), specifications))
def test_what_is_clear_is_what_pydantic_does(include: Any, exclude: Any) -> None:
    model = Outer()
    try:
        ours = filtered(model, include, exclude)
    except Unclear:
        return
    assert ours == model.model_dump(include=include, exclude=exclude)


@pytest.mark.parametrize(
    "specification",
    [["x"], "x", frozenset({"x"}), {"x": False}, {"x": None}, {"x": 1}, {"__all__"}, {"__all__": {"a"}}, {1}, False],
)
def test_odd_specifications_of_a_model_are_left_to_pydantic(specification: Any) -> None:
    with pytest.raises(Unclear):
        NameFilter(None, specification)


@pytest.mark.parametrize(
    "specification", [[0], frozenset({0}), {"__all__": True, 0: {"a"}}, {0: True, -3: True}, {"a"}]
)
def test_odd_specifications_of_a_list_are_left_to_pydantic(specification: Any) -> None:
    with pytest.raises(Unclear):
        IndexFilter(None, specification, 3)
