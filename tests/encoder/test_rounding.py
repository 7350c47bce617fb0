"""Rounding whole arrays: each value against Python's own round."""

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from encoder.rounding import MAX_EXACT_DECIMALS, nearest_multiples, round_floats

DECIMALS = st.integers(0, MAX_EXACT_DECIMALS)
FLOATS = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)


def bits(values: list[float]) -> list[bytes]:
    """The values' bit patterns, every NaN alike: -0.0 is not 0.0."""
    return [b"nan" if math.isnan(v) else struct.pack("<d", v) for v in values]


def check(values: list[float], decimals: int) -> None:
    expected = [round(v, decimals) for v in values]
    assert bits(round_floats(np.array(values, dtype=np.float64), decimals).tolist()) == bits(expected)


def neighbours(value: float, steps: int) -> float:
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.inf if steps > 0 else -math.inf)
    return value


@given(st.lists(FLOATS, max_size=20), st.integers(-3, 30))
@example([0.0, -0.0, -1e-9, 5e-324, -5e-324, math.inf, -math.inf, math.nan, 1.7e308], 4)
@example([0.5, 1.5, 2.5, -0.5, -1.5], 0)
def test_any_floats(values: list[float], decimals: int) -> None:
    try:
        expected = [round(v, decimals) for v in values]
    except OverflowError:
        with pytest.raises(OverflowError):
            round_floats(np.array(values), decimals)
        return
    assert bits(round_floats(np.array(values, dtype=np.float64), decimals).tolist()) == bits(expected)


@given(st.integers(-(2**56), 2**56), st.integers(-3, 3), DECIMALS)
@example(10**4 * 2 + 1, 0, 4)
@example(2 * 1005 + 1, -1, 3)
def test_nearest_doubles_of_ties(doubled: int, steps: int, decimals: int) -> None:
    """The doubles around k + 1/2 in the last kept digit, where the product alone cannot tell the side."""
    check([neighbours((doubled | 1) / (2 * 10**decimals), steps)], decimals)


@given(st.integers(-(2**20), 2**20), st.integers(1, 30), DECIMALS)
def test_exact_ties_and_dyadic_fractions(numerator: int, power: int, decimals: int) -> None:
    check([numerator / 2**power, -numerator / 2**power], decimals)


@given(st.integers(50, 56), st.floats(1.0, 2.0, exclude_max=True), st.integers(-3, 3), DECIMALS)
def test_products_around_the_limits(power: int, mantissa: float, steps: int, decimals: int) -> None:
    """Products around 2**52 and 2**53, where the ways of rounding take turns."""
    check([neighbours(mantissa * 2.0**power / 10**decimals, steps)], decimals)
    check([neighbours(-(2.0**power) / 10**decimals, steps)], decimals)


@given(st.lists(st.floats(width=32), max_size=30), st.integers(0, 15))
def test_float32_is_widened_first(values: list[float], decimals: int) -> None:
    narrow = np.array(values, dtype=np.float32)
    expected = [round(v, decimals) for v in narrow.tolist()]
    rounded = round_floats(narrow, decimals)
    assert rounded.dtype == np.float64
    assert bits(rounded.tolist()) == bits(expected)


def test_numpy_round_differs_and_we_do_not() -> None:
    values = [1.00005, 2.00015, 0.00015, 1.00045, 5.00015]
    check(values, 4)
    assert np.round(np.array(values), 4).tolist() != [round(v, 4) for v in values]


@pytest.mark.parametrize("decimals", range(16))
def test_many_random_near_ties(decimals: int) -> None:
    random = np.random.default_rng(decimals)
    whole = random.integers(-(10 ** min(decimals + 1, 15)), 10 ** min(decimals + 1, 15), 3000)
    values = ((whole + 0.5) / 10.0**decimals).tolist()
    check(
        values + [math.nextafter(v, 1e9) for v in values] + [math.nextafter(v, -1e9) for v in values],
        decimals,
    )


def test_the_input_is_left_alone_and_shapes_are_kept() -> None:
    values = np.array([[0.00005, 1e300], [math.nan, -2.00015]])
    values.flags.writeable = False
    rounded = round_floats(values, 4)
    assert rounded.shape == (2, 2)
    assert values[0, 0] == 0.00005


def test_empty() -> None:
    assert round_floats(np.array([], dtype=np.float64), 4).tolist() == []


@given(st.lists(st.floats(-1e6, 1e6), max_size=20), st.integers(0, 9))
def test_nearest_multiples_are_the_integers_behind_round(values: list[float], decimals: int) -> None:
    multiples = nearest_multiples(np.array(values, dtype=np.float64), decimals)
    assert (multiples / 10.0**decimals).tolist() == [round(v, decimals) for v in values]
