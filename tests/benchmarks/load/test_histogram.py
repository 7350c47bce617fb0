import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.load.histogram import CURVE_PERCENTS, Histogram
from encoder.probe import percentile

VALUES = st.lists(st.floats(-1.0, 1e7), min_size=1, max_size=200)


def counted(values: list[float]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    return histogram


@given(values=VALUES, percent=st.floats(0, 100))
def test_a_percentile_is_at_most_two_percent_too_much(values: list[float], percent: float) -> None:
    exact = max(0.0, percentile(sorted(values), percent))
    found = counted(values).percentile(percent)
    assert exact * (1 - 1e-9) <= max(found, 1e-4)
    assert found <= max(exact * 1.0201, 1e-4)


@given(values=VALUES)
def test_the_worst_and_the_sum_are_exact(values: list[float]) -> None:
    histogram = counted(values)
    assert histogram.worst == max(0.0, *(value for value in values if value > 1e-4), 0.0)
    assert histogram.total == pytest.approx(sum(value for value in values if value > 1e-4))
    assert histogram.count == len(values)
    assert histogram.percentile(100) == histogram.worst


@given(values=VALUES)
def test_a_curve_rises(values: list[float]) -> None:
    curve = counted(values).curve()
    assert [percent for percent, _ in curve] == list(CURVE_PERCENTS)
    assert [value for _, value in curve] == sorted(value for _, value in curve)


def test_what_is_beyond_all_cells_is_in_the_last() -> None:
    assert counted([1.0, 1e200, 1e300]).percentile(50) == 1e300


def test_nothing_is_zero() -> None:
    assert Histogram().percentile(99) == 0.0


def test_no_percent() -> None:
    with pytest.raises(ValueError, match="101 is no percent"):
        Histogram().percentile(101)
