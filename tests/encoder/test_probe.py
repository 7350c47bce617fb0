import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoder.probe import LoopProbe, StallFigures, figures, percentile


async def test_a_hold_that_covers_the_whole_block_is_seen() -> None:
    async with LoopProbe() as probe:
        time.sleep(0.05)
    assert max(probe.lags_ms) >= 45


async def test_what_ran_before_the_block_is_not_counted() -> None:
    async with LoopProbe() as probe:
        before = len(probe.lags_ms)
        await asyncio.sleep(0.02)
    assert before == 0
    assert len(probe.lags_ms) > 1


async def test_ticks_even_when_the_block_is_empty() -> None:
    async with LoopProbe() as probe:
        pass
    assert len(probe.lags_ms) == 1


async def test_ticks_while_nothing_happens() -> None:
    async with LoopProbe() as probe:
        while len(probe.lags_ms) < 5:
            await asyncio.sleep(0.001)
    assert min(probe.lags_ms) > -1


async def test_ends_when_the_block_raises() -> None:
    with pytest.raises(KeyError):
        async with LoopProbe() as probe:
            raise KeyError
    assert len(asyncio.all_tasks()) == 1
    assert len(probe.lags_ms) == 1


def test_figures_pool_the_ticks_but_take_the_median_of_the_worst() -> None:
    assert figures([[1.0, 9.0], [2.0, 3.0], [1.0, 4.0]]) == StallFigures(p50_ms=2.0, p99_ms=9.0, worst_ms=4.0, ticks=6)


@pytest.mark.parametrize("runs", [[], [[]], [[1.0], []]])
def test_figures_need_ticks(runs: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="tick"):
        figures(runs)


@given(values=st.lists(st.floats(0, 1e6), min_size=1), percent=st.floats(0, 100))
def test_a_percentile_is_not_exceeded_by_that_many(values: list[float], percent: float) -> None:
    values.sort()
    found = percentile(values, percent)
    assert found in values
    assert sum(value <= found for value in values) * 100 >= len(values) * percent * (1 - 1e-12)
    assert sum(value < found for value in values) * 100 <= len(values) * percent


@pytest.mark.parametrize(("values", "percent"), [([], 50), ([1.0], -1), ([1.0], 101)])
def test_a_percentile_needs_values_and_a_percent(values: list[float], percent: float) -> None:
    with pytest.raises(ValueError, match="percent"):
        percentile(values, percent)
