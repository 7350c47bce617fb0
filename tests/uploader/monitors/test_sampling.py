"""A few of many, each as likely as the others."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.monitors.sampling import Reservoir


def chosen(size: int, counts: list[int], seed: int) -> list[int]:
    """Which of a stream's items hold the slots in the end."""
    reservoir, slots = Reservoir(size, random.Random(seed)), {}
    start = 0
    for count in counts:
        for place, slot in reservoir.offer(count):
            assert 0 <= place < count
            slots[slot] = start + place
        start += count
    assert reservoir.seen == start
    assert sorted(slots) == list(range(len(slots)))
    return sorted(slots.values())


@given(st.integers(1, 5), st.lists(st.integers(0, 20), max_size=10), st.integers(0, 1000))
def test_so_many_different_ones_are_chosen(size: int, counts: list[int], seed: int) -> None:
    found = chosen(size, counts, seed)
    assert len(found) == len(set(found)) == min(size, sum(counts))


@given(st.lists(st.integers(0, 20), max_size=10), st.integers(0, 1000))
def test_how_they_come_does_not_matter(counts: list[int], seed: int) -> None:
    assert chosen(4, counts, seed) == chosen(4, [sum(counts)], seed)


@pytest.mark.parametrize("size", [1, 3])
def test_each_is_as_likely_as_the_others(size: int) -> None:
    rounds, items = 4000, 12
    found = Counter(item for seed in range(rounds) for item in chosen(size, [5, 4, 3], seed))
    expected = rounds * size / items
    spread = math.sqrt(expected)
    assert all(abs(found[item] - expected) < 4 * spread for item in range(items))


def test_a_long_stream_costs_little() -> None:
    reservoir = Reservoir(8, random.Random(0))
    assert len(list(reservoir.offer(10**9))) < 400


class Loaded(random.Random):
    """Chance at its edges."""

    def __init__(self, value: float) -> None:
        super().__init__(0)
        self.value = value

    def random(self) -> float:
        return self.value


@pytest.mark.parametrize("value", [0.0, math.ulp(0.0), math.nextafter(1.0, 0.0)])
def test_chance_at_its_edges(value: float) -> None:
    reservoir = Reservoir(2, Loaded(value))
    assert all(0 <= place < 50 for place, _ in reservoir.offer(50))
