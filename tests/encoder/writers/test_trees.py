"""Trees of JSON's own types: what they weigh, and that slices of them are exact."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.writers.base import Run, Steps, TooDeepError, Unwritable
from encoder.writers.trees import write_tree
from encoder.writers.weights import FOREIGN, TOO_HEAVY, weigh

trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=30,
)


def run_steps(steps: Steps) -> None:
    for step in steps:
        if step is not None:
            run_steps(step[1])


def written(tree: Any) -> bytes:
    run = Run({})
    run_steps(write_tree(tree, run, 0))
    return b"".join(run.out)


@given(trees)
def test_a_tree_is_written_as_orjson_writes_it(tree: Any) -> None:
    assert written(tree) == orjson.dumps(tree)


@given(trees, st.integers(1, 3))
def test_a_tree_of_any_size_is_written_as_orjson_writes_it(tree: Any, scale: int) -> None:
    wide = {
        "items": [tree] * (scale * 2000),
        "text": "é\n" * (scale * 30_000),
        "members": {str(n): tree for n in range(3000)},
    }
    assert written(wide) == orjson.dumps(wide)


def test_weights() -> None:
    assert weigh("x" * 100, 1000) == 900
    assert weigh("x" * 1001, 1000) == TOO_HEAVY
    assert weigh([1] * 1000, 1000) == TOO_HEAVY
    assert weigh({"a": object()}, 1000, strict=True) == FOREIGN
    assert weigh({1: 2}, 1000, strict=True) == FOREIGN
    assert weigh({"a": object()}, 1000) > 0


@pytest.mark.parametrize("container", [list, dict])
def test_depth_is_counted(container: type) -> None:
    tree: Any = container()
    for _ in range(253):
        tree = [tree] if container is list else {"k": tree}
    assert written(tree) == orjson.dumps(tree)
    with pytest.raises((TooDeepError, Unwritable)):
        written([tree])


def test_keys_that_are_no_text_weigh_nothing_where_pydantic_has_seen_them() -> None:
    assert weigh({1: 2, "k": 3}, 1000) == weigh({"": 2, "k": 3}, 1000)
    assert weigh({1: 2, "k": 3}, 1000, strict=True) == FOREIGN
