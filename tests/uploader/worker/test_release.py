"""A finished record is taken apart part by part, unless somebody else holds it."""

import weakref
from typing import Any

import pytest

from encoder import Episode
from encoder.delta import DeltaEncoder, EpisodeAssembly
from encoder.synthetic import synthetic_episode
from uploader.worker.release import let_go


class Pauses:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture
def held() -> list[Any]:
    return [synthetic_episode(1, num_nodes=12, tokens_per_node=5)]


def test_what_nobody_else_holds_goes_node_by_node(held: list[Any]) -> None:
    gone: list[int] = []
    pauses = Pauses()
    nodes = held[0].traces[0].nodes
    for number, node in enumerate(nodes):
        weakref.finalize(node, gone.append, number)
    del nodes, node
    left: list[int] = []

    def pause() -> None:
        pauses()
        left.append(12 - len(gone))

    let_go(held, pause)
    assert held == []
    assert gone == list(reversed(range(12)))
    assert left[:12] == list(reversed(range(12)))
    assert pauses.count >= 14  # the calls, the trace and the episode, too


def test_a_record_that_somebody_holds_is_left_as_it_is(held: list[Any]) -> None:
    mine: Episode = held[0]
    body = mine.to_json()
    let_go(held, Pauses())
    assert held == []
    assert mine.to_json() == body


def test_a_trace_that_somebody_holds_is_left_as_it_is(held: list[Any]) -> None:
    mine = held[0].traces[0]
    body = mine.to_json()
    let_go(held, Pauses())
    assert mine.to_json() == body


def test_a_list_of_nodes_that_somebody_holds_is_left_as_it_is(held: list[Any]) -> None:
    mine = held[0].traces[0].nodes
    let_go(held, Pauses())
    assert len(mine) == 12


def test_a_record_that_can_still_be_reached_weakly_is_left_as_it_is(held: list[Any]) -> None:
    link = weakref.ref(held[0])
    seen: list[int] = []
    let_go(held, lambda: seen.append(-1 if (record := link()) is None else len(record.traces)))
    assert seen == [-1]


def test_a_trace_alone_and_anything_else() -> None:
    pauses = Pauses()
    let_go(synthetic_episode(1, num_nodes=6, tokens_per_node=5).traces, pauses)
    assert pauses.count >= 7
    let_go([{"a": 1}, b"line", None], pauses)


def test_an_assembly_goes_part_by_part_unless_somebody_holds_it() -> None:
    record = synthetic_episode(1, target_bytes=600_000)
    mine = EpisodeAssembly()
    mine.feed(DeltaEncoder(record).encode(last=True))
    pauses = Pauses()
    let_go([mine], pauses)
    assert mine.to_json() == record.to_json()
    assert pauses.count == 1
    held = [mine]
    del mine
    let_go(held, pauses)
    assert held == []
    assert pauses.count > 4
