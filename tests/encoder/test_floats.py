"""Float columns as bytes: against orjson's bytes for the rounded list."""

import math
from random import Random

import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from encoder.floats import float_cells, float_texts
from encoder.rounding import FloatArray


def encode_floats(values: FloatArray, decimals: int | None) -> bytes:
    """One column, with its brackets."""
    return b"[" + (float_texts([values], decimals)[0] if len(values) else b"") + b"]"


def oracle(values: list[float], decimals: int | None) -> bytes:
    return orjson.dumps(values if decimals is None else [round(v, decimals) for v in values])


def test_every_cell_of_the_table() -> None:
    positive = [n / 10_000 for n in range(100_001)]
    numbers = [-v for v in reversed(positive)] + positive
    beyond, *cells, beyond_too = float_cells()
    assert beyond == beyond_too
    assert beyond.tobytes()[:1] == b"\xff"
    text = np.array(cells).tobytes().translate(None, b"\0").decode()
    assert text == "".join(orjson.dumps(v).decode() + "," for v in numbers)


def test_every_number_of_the_table() -> None:
    """In slices with many and with few characters missing, for both ways of dropping NULs."""
    positive = [n / 10_000 for n in range(100_000)]
    for numbers in (positive, [-v for v in positive]):
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            assert encode_floats(np.array(part), 4) == orjson.dumps(part)


@given(st.lists(st.floats(-10.001, 10.001), max_size=50))
@example([9.99995, -9.99995, 9.99994, -9.99996, -0.0, 0.0, -0.00004, 10.0, -10.0])
@example([9.99994999999])
def test_values_around_the_table(values: list[float]) -> None:
    assert encode_floats(np.array(values, dtype=np.float64), 4) == oracle(values, 4)


@given(st.lists(st.floats(), max_size=30), st.none() | st.integers(-2, 18))
@example([0.5, math.nan, math.inf, -math.inf, 1e300, -12.34567], 4)
@example([1.0, 2.0], None)
def test_any_floats(values: list[float], decimals: int | None) -> None:
    try:
        expected = oracle(values, decimals)
    except OverflowError:
        with pytest.raises(OverflowError):
            encode_floats(np.array(values, dtype=np.float64), decimals)
        return
    assert encode_floats(np.array(values, dtype=np.float64), decimals) == expected


@pytest.mark.parametrize("decimals", [None, 0, 2, 4, 6])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4", ">f8"])
def test_widths_and_layouts(dtype: str, decimals: int | None) -> None:
    values = np.linspace(-5, 5, 101).astype(dtype)
    for column in (values, values[::-3], values[:0]):
        assert encode_floats(column, decimals) == oracle(column.tolist(), decimals)


def test_slices_join_to_the_whole() -> None:
    values = np.random.default_rng(1).normal(0, 2, 1000)
    whole = encode_floats(values, 4)
    slices = [encode_floats(values[start : start + 300], 4)[1:-1] for start in range(0, 1000, 300)]
    assert b"[" + b",".join(slices) + b"]" == whole


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=200), st.lists(st.floats(), max_size=9), st.randoms())
def test_a_few_values_beyond_the_table(common: list[float], odd: list[float], random: Random) -> None:
    values = [*common * 4, *odd]
    random.shuffle(values)
    assert encode_floats(np.array(values), 4) == oracle(values, 4)
    columns = [np.array(values), np.array(common), np.array(values[::-1])]
    assert float_texts(columns, 4) == [oracle(column.tolist(), 4)[1:-1] for column in columns]
