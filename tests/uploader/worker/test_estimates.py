"""Estimates of encoded sizes: near for episodes and traces, learnt for everything else, and as quick for thousands."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import pytest

from encoder import Episode, MessageNode, Trace
from encoder.synthetic import synthetic_episode
from uploader.worker.estimates import Estimate, Scales, estimate


@pytest.mark.parametrize("tokens_per_node", [40, 900, 8000])
def test_an_episode_is_guessed_within_a_factor_of_two(tokens_per_node: int) -> None:
    episode = synthetic_episode(3, num_nodes=40, tokens_per_node=tokens_per_node)
    size = len(episode.to_json())
    for record in (episode, episode.traces[0]):
        assert size / 2 < estimate([record]).units < size * 2


def test_only_a_few_nodes_are_looked_at() -> None:
    looked_at: list[int] = []

    class Nodes(list[MessageNode]):
        def __getitem__(self, index: Any) -> Any:
            looked_at.append(index)
            return super().__getitem__(index)

        def __iter__(self) -> Iterator[MessageNode]:
            raise AssertionError("all nodes are walked")

    trace = synthetic_episode(1, num_nodes=2).traces[0]
    few = estimate([trace]).units
    trace.__dict__["nodes"] = Nodes(trace.nodes * 5000)
    many = estimate([trace]).units
    assert len(looked_at) == len(set(looked_at)) == 3
    assert 1000 * few < many < 6000 * few


def test_only_a_few_records_are_looked_at() -> None:
    class Records(Sequence[bytes]):
        looked_at = 0

        def __len__(self) -> int:
            return 100_000

        @overload
        def __getitem__(self, index: int) -> bytes: ...
        @overload
        def __getitem__(self, index: slice) -> Sequence[bytes]: ...
        def __getitem__(self, index: Any) -> Any:
            self.looked_at += 1
            return b"x" * (index // 25_000 + 1)

    records = Records()
    assert estimate(records) == Estimate("bytes", 2)
    assert records.looked_at == 4


def test_what_lacks_its_fields_is_still_guessed() -> None:
    episode: Any = Episode
    trace: Any = Trace
    for record in (episode.model_construct(traces=None), trace.model_construct(nodes=[None] * 3)):
        assert estimate([record]).units == 1


def test_a_mixture_is_guessed_in_bytes() -> None:
    assert estimate([b"x" * 1904, {"a": 1}]) == Estimate("mixed", 3000)
    assert Scales().bytes_per_unit("mixed") == 1.0


def test_the_bytes_a_unit_are_learnt_and_follow_what_changes() -> None:
    scales = Scales()
    assert scales.bytes_per_unit("dict") == 4096
    scales.learn("dict", 1, 100)
    assert scales.bytes_per_unit("dict") == 100
    for _ in range(1000):
        scales.learn("dict", 1, 300)
    assert 299 < scales.bytes_per_unit("dict") <= 300


def test_kinds_without_end_are_not_all_remembered() -> None:
    scales = Scales()
    for number in range(1000):
        scales.learn(f"kind {number}", 1, 7)
    assert [scales.bytes_per_unit(f"kind {number}") for number in (0, 999)] == [7, 4096]
