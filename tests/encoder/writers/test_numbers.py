"""Lists of numbers: told exactly by their text."""

from enum import Enum, IntEnum
from types import NoneType
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.writers.numbers import all_are, exact_text


class Colour(IntEnum):
    RED = 1


class Plain(Enum):
    ONE = 1
    HALF = 0.5
    YES = True


class Whole(int):
    pass


class Real(float):
    pass


numbers: list[Any] = [True, None, 1, 1.0, -0.0, 1e300, 5e-324, float("nan"), float("inf"), 2**63, 2**64, -(2**63) - 1]
others: list[Any] = ["1", "1.5", "", "true", "[", b"1", [1], [1.5], [], {}, {"a": 1.5}, (1,), (1.5, 2.5)]
kin: list[Any] = [Colour.RED, *Plain, Whole(1), Real(1.5), np.float64(1.5), np.int64(1)]
odd = [*numbers, *others, *kin]


def is_of(kind: type, item: Any) -> bool:
    """Whether an item may be in a text: a number that is an Enum's member is written as any other."""
    return type(item) is kind or (kind is int and item is Colour.RED)


@pytest.mark.parametrize("kind", [int, float, bool, NoneType])
@given(st.lists(st.one_of(st.integers(), st.floats(), st.booleans(), st.sampled_from(odd)), max_size=6))
def test_only_lists_of_exactly_the_type_have_a_text(kind: type, items: list[Any]) -> None:
    exact = all(is_of(kind, item) for item in items)
    text = exact_text(kind, items)
    if text is not None:
        assert exact
        assert text == orjson.dumps(items)
    elif exact and all(type(item) is kind for item in items):  # integers beyond 64 bits
        with pytest.raises(TypeError):
            orjson.dumps(items)
    assert exact or not all_are(kind, items)


@pytest.mark.parametrize("kind", [int, float, bool])
@given(st.data())
def test_long_lists(kind: type, data: st.DataObject) -> None:
    values: Any = {int: st.integers(-(2**63), 2**64 - 1), float: st.floats(), bool: st.booleans()}[kind]
    items = data.draw(st.lists(values, max_size=40))
    assert exact_text(kind, items) == orjson.dumps(items)
    strangers = [item for item in odd if not is_of(kind, item)]
    items.insert(data.draw(st.integers(0, len(items))), data.draw(st.sampled_from(strangers)))
    assert exact_text(kind, items) is None
