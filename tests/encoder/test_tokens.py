"""Token counts: the single pass against walking every branch."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from encoder.stepwise import finish
from encoder.tokens import NODES_PER_STEP, TokenCounts, count_tokens


@dataclass
class Usage:
    prompt_tokens: int
    completion_tokens: int
    cached: int = 0

    @property
    def input_tokens(self) -> int:
        return self.prompt_tokens + self.cached

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.completion_tokens


@dataclass
class Call:
    node: int | None
    usage: Usage | None


@dataclass
class Node:
    parent: int | None


def sound_parents(parents: list[int | None]) -> list[int | None]:
    """The parents without those that are out of range or on a cycle."""
    in_range = [p if p is not None and 0 <= p < len(parents) else None for p in parents]

    def on_cycle(node: int) -> bool:
        above = in_range[node]
        for _ in parents:
            if above is None or above == node:
                break
            above = in_range[above]
        return above == node

    return [None if on_cycle(node) else parent for node, parent in enumerate(in_range)]


def oracle(parents: list[int | None], calls: list[Call]) -> TokenCounts:
    """The definition, read aloud: branches, their calls, and sums."""
    parents = sound_parents(parents)
    last_call = {call.node: call for call in calls}
    branches: list[list[Any]] = []
    for leaf in set(range(len(parents))) - set(parents):
        path: list[int] = []
        node: int | None = leaf
        while node is not None:
            path.append(node)
            node = parents[node]
        path.reverse()
        branches.append([last_call[n] for n in path if n in last_call and last_call[n].usage is not None])
    num_input, num_output, seen = 0, 0, set()
    for branch in branches:
        previous = 0
        for call in branch:
            if id(call) not in seen:
                seen.add(id(call))
                num_input += max(0, call.usage.input_tokens - previous)
            previous = call.usage.total_tokens
            num_output += call.usage.completion_tokens
    completions = sum(call.usage.completion_tokens for call in calls if call.usage is not None)
    return TokenCounts(num_input, num_output, num_input + completions)


def counted(parents: list[int | None], calls: list[Call]) -> TokenCounts:
    return finish(count_tokens([Node(p) for p in parents], calls))


TOKENS = st.integers(0, 50)
USAGES = st.none() | st.builds(Usage, TOKENS, TOKENS, TOKENS)


def calls_of(size: int) -> st.SearchStrategy[list[Call]]:
    return st.lists(st.builds(Call, st.none() | st.integers(-2, size + 1), USAGES), max_size=3 * size + 2)


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int | None], list[Call]]:
    """What recorders write: each parent comes before its children."""
    size = draw(st.integers(0, 12))
    parents = [draw(st.none() | st.integers(0, node - 1)) if node else None for node in range(size)]
    return parents, draw(calls_of(size))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int | None], list[Call]]:
    """Any parents at all: later ones, missing ones, cycles."""
    size = draw(st.integers(0, 10))
    parents = draw(st.lists(st.none() | st.integers(-2, size + 1), min_size=size, max_size=size))
    return parents, draw(calls_of(size))


@given(forests())
def test_forests(case: tuple[list[int | None], list[Call]]) -> None:
    assert counted(*case) == oracle(*case)


@given(graphs())
@example(([0], [Call(0, Usage(3, 4))]))
@example(([1, 0, 1], [Call(n, Usage(3 + n, 4)) for n in range(3)]))
def test_any_graph(case: tuple[list[int | None], list[Call]]) -> None:
    assert counted(*case) == oracle(*case)


def test_by_hand() -> None:
    """A root, a shared call, and two branches from it; the shared call was retried."""
    calls = [
        Call(1, Usage(100, 99)),
        Call(1, Usage(100, 10)),
        Call(2, Usage(50, 20, cached=80)),
        Call(3, Usage(100, 5)),
        Call(None, Usage(7, 3)),
        Call(2, None),
    ]
    # Node 2's last call has no usage, so its first one counts for the total only.
    assert counted([None, 0, 1, 1], calls) == TokenCounts(100, 10 + 10 + 5, 100 + 99 + 10 + 20 + 5 + 3)


def test_empty() -> None:
    assert counted([], []) == TokenCounts(0, 0, 0)
    assert counted([], [Call(0, Usage(1, 2))]) == TokenCounts(0, 0, 2)


@pytest.mark.parametrize("ring", [False, True])
def test_many_branches_on_a_long_prefix(ring: bool) -> None:
    """Walking every branch would take 400 million steps here."""
    prefix: list[int | None] = [None if node == 0 else node - 1 for node in range(20_000)]
    if ring:
        prefix[0] = 19_999
    parents = [*prefix, *([19_999] * 20_000)]
    counts = counted(parents, [Call(node, Usage(node, 1)) for node in range(40_000)])
    assert counts.num_output_tokens == (20_000 if ring else 20_000 * 20_000 + 20_000) + (19_999 + 20_000 if ring else 0)


def test_it_gives_way_every_few_hundred_nodes() -> None:
    size = 10 * NODES_PER_STEP
    parents: list[int | None] = [None if node == 0 else node - 1 for node in range(size)]
    steps = count_tokens([Node(p) for p in parents], [Call(n, Usage(1, 1)) for n in range(size)])
    assert sum(1 for _ in steps) >= 40


def test_sums() -> None:
    assert TokenCounts(1, 2, 3).plus(TokenCounts(10, 20, 30)) == TokenCounts(11, 22, 33)
