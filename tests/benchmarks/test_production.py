import statistics

import pytest

from benchmarks.production import episodes, production_sizes, shared_sizes
from encoder.synthetic import synthetic_episode


@pytest.mark.parametrize("count", [40, 1000])
def test_sizes_are_those_of_production_however_many(count: int) -> None:
    sizes = sorted(production_sizes(count))
    assert len(sizes) == count
    assert set(sizes) <= set(shared_sizes())
    assert statistics.median(sizes) == pytest.approx(6.4e6, rel=0.1)
    assert statistics.mean(sizes) == pytest.approx(8.5e6, rel=0.1)
    assert sizes[count * 9 // 10] == pytest.approx(17e6, rel=0.1)
    assert sizes[-1] <= 60_000_000


def test_the_largest_of_a_thousand_are_large() -> None:
    assert sorted(production_sizes(1000))[990] == pytest.approx(35e6, rel=0.1)


def test_episodes_share_traces_and_differ_in_their_ids() -> None:
    shared = {1: synthetic_episode(1, num_nodes=1), 2: synthetic_episode(2, num_nodes=1)}
    made = list(episodes([2, 1, 2], shared))
    assert [episode.id for episode in made] == ["episode-0", "episode-1", "episode-2"]
    assert [episode.traces for episode in made] == [shared[size].traces for size in (2, 1, 2)]
    assert made[0].traces[0] is made[2].traces[0]
