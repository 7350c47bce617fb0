import asyncio

import pytest

from benchmarks.ways import adrain, count, drain, node_at_a_time, plain
from encoder import Episode
from encoder.synthetic import synthetic_episode


@pytest.fixture(params=[1, 3])
def episode(request: pytest.FixtureRequest) -> Episode:
    made = synthetic_episode(3, num_nodes=9, tokens_per_node=40)
    made.traces *= request.param
    return made


def test_all_ways_make_the_same_bytes(episode: Episode) -> None:
    assert plain(episode) == node_at_a_time(episode) == episode.to_json()


def test_draining_counts_the_bytes(episode: Episode) -> None:
    assert drain(episode) == asyncio.run(adrain(episode)) == len(plain(episode))


def test_counting_counts() -> None:
    assert count() > 0
