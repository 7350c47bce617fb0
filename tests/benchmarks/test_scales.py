import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scales import Linear, Log, Nines, Scale, around

SCALES: list[Scale] = [Linear(3.0), Log(0.05, 2000.0), Nines()]


@pytest.mark.parametrize("scale", SCALES)
@given(low=st.floats(-1e3, 1e4), high=st.floats(-1e3, 1e4))
def test_scales_rise_from_0_to_1(scale: Scale, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert 0.0 <= scale(low) <= scale(high) <= 1.0


@pytest.mark.parametrize("scale", SCALES)
def test_ticks_lie_on_the_axis(scale: Scale) -> None:
    ticks = scale.ticks()
    assert len(ticks) >= 3
    places = [scale(value) for value, _ in ticks]
    assert places == sorted(set(places))


def test_each_nine_has_as_much_room() -> None:
    scale = Nines()
    assert scale(90) == pytest.approx(1 / 3)
    assert scale(99) == pytest.approx(2 / 3)
    assert scale(100) == scale(99.9) == 1


@pytest.mark.parametrize(
    ("high", "texts"), [(1.0, ["0", "0.25", "0.5", "0.75", "1"]), (870, ["0", "250", "500", "750"])]
)
def test_linear_ticks_are_round(high: float, texts: list[str]) -> None:
    assert [text for _, text in Linear(high).ticks()] == texts


def test_around() -> None:
    assert around([0.5, 3, 20]) == (0.1, 100.0)
