"""Lists of numbers: told exactly by what marshal makes of them."""

from enum import Enum, IntEnum
from types import NoneType
from typing import Any, Self

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


class Tenfold(int, Enum):
    """Is one number and has another as its value."""

    ONE = 1

    def __new__(cls, value: int) -> Self:
        member = int.__new__(cls, value)
        member._value_ = 10 * value
        return member


class Added(Enum):
    """Can be summed without being a number."""

    ONE = 1

    def __radd__(self, other: int) -> int:
        return other + 1


class Whole(int):
    pass


class Real(float):
    pass


numbers: list[Any] = [True, None, 1, 1.0, -0.0, 1e300, 5e-324, float("nan"), float("inf"), 2**63, 2**64, -(2**63) - 1]
others: list[Any] = ["1", "1.5", "", "true", "[", b"1", [1], [1.5], [], {}, {"a": 1.5}, (1,), (1.5, 2.5)]
kin: list[Any] = [Colour.RED, Tenfold.ONE, Added.ONE, *Plain, Whole(1), Real(1.5), np.float64(1.5), np.int64(1)]
odd = [*numbers, *others, *kin]


@pytest.mark.parametrize("kind", [int, float, bool, NoneType])
@given(st.lists(st.one_of(st.integers(), st.floats(), st.booleans(), st.sampled_from(odd)), max_size=6))
def test_only_lists_of_exactly_the_type_have_a_text(kind: type, items: list[Any]) -> None:
    exact = all(type(item) is kind for item in items)
    text = exact_text(kind, items)
    if text is not None:
        assert exact
        assert text == orjson.dumps(items)
    elif exact:  # integers beyond 64 bits
        with pytest.raises(TypeError):
            orjson.dumps(items)
    assert exact or not all_are(kind, items)


@pytest.mark.parametrize("kind", [int, float, bool])
@given(st.data())
def test_long_lists(kind: type, data: st.DataObject) -> None:
    values: Any = {int: st.integers(-(2**63), 2**64 - 1), float: st.floats(), bool: st.booleans()}[kind]
    items = data.draw(st.lists(values, max_size=40))
    assert exact_text(kind, items) == orjson.dumps(items)
    strangers = [item for item in odd if type(item) is not kind]
    items.insert(data.draw(st.integers(0, len(items))), data.draw(st.sampled_from(strangers)))
    assert exact_text(kind, items) is None
