import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.load.rollouts import Rollouts, new_rollouts
from encoder.synthetic import synthetic_episode

ROLLOUTS = Rollouts([synthetic_episode(seed, num_nodes=2 + seed) for seed in range(3)], [2, 0, 1, 0])


def test_episodes_differ_in_their_ids_and_share_the_rest() -> None:
    made = [ROLLOUTS.episode(number) for number in range(8)]
    assert len({episode.id for episode in made}) == 8
    assert len({trace.id for episode in made for trace in episode.traces}) == 8
    assert made[1].traces[0].nodes is made[3].traces[0].nodes is made[5].traces[0].nodes
    assert made[0].traces[0].nodes is not made[1].traces[0].nodes


@given(number=st.integers(0, 50))
def test_what_was_before_adds_up(number: int) -> None:
    assert ROLLOUTS.bytes_before(number) == sum(map(ROLLOUTS.size, range(number)))


def test_sizes_are_those_of_the_json_but_for_the_ids() -> None:
    for number in range(4):
        assert len(ROLLOUTS.episode(number).to_json()) == pytest.approx(ROLLOUTS.size(number), abs=60)


def test_a_few_need_a_few_kinds() -> None:
    rollouts = new_rollouts(2, 0.01)
    assert len(rollouts) == 2
    assert len(rollouts.line_bytes) == 2
    assert sum(map(rollouts.size, range(2))) == pytest.approx(14e4, rel=0.4)
