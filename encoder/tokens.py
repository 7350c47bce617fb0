"""Token counts of a message graph, in one pass over its nodes and calls.

A *branch* is a path from a root to a leaf (a node that is no node's parent). Its calls are, in path order, the last
call recorded for each node on it. Branches share long prefixes, so no branch is ever walked:

- A call's predecessor is the last call with usage among its node's ancestors, whatever the branch. Going from roots
  to leaves, each node hands its children the total of the nearest one.
- A shared call's output counts once per branch: as often as there are leaves under its node. Going from leaves to
  roots, each node hands its parent the number of leaves under it.

Records come from anywhere, so a parent may be wrong: an index that is out of range or negative, and every link of a
cycle, count as no parent. A parent that comes later in the list is as good as any.
"""

import operator
from array import array
from collections.abc import Generator, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

# One number a node, in arrays: a list of a hundred thousand takes a millisecond to be let go.
Indexes: TypeAlias = "array[int]"

_NONE: Final = -1
_parent_of: Final = operator.attrgetter("parent")

NODES_PER_STEP: Final = 256
"""How many nodes or calls are handled between two yields: some tens of microseconds."""


class Usage(Protocol):
    """What the counts need of a call's usage."""

    completion_tokens: int

    @property
    def input_tokens(self) -> int:
        """All tokens that went in."""

    @property
    def total_tokens(self) -> int:
        """All tokens that went in or came out."""


class Call(Protocol):
    """What the counts need of a call."""

    @property
    def node(self) -> int | None:
        """Index of the node that holds the answer."""

    @property
    def usage(self) -> Usage | None:
        """The call's tokens."""


class Node(Protocol):
    """What the counts need of a node."""

    @property
    def parent(self) -> int | None:
        """Index of the predecessor."""


class TokenCounts(NamedTuple):
    """The token counts of a trace, or of an episode as the sum of its traces'.

    Attributes:
        num_input_tokens: fed-in tokens, counted once across branches.
        num_output_tokens: generated tokens, summed over branches.
        num_total_tokens: fed-in tokens, and the generated ones of all calls, once each.
    """

    num_input_tokens: int = 0
    num_output_tokens: int = 0
    num_total_tokens: int = 0

    def plus(self, other: "TokenCounts") -> "TokenCounts":
        """Return the sum of both."""
        return TokenCounts(*(mine + others for mine, others in zip(self, other, strict=True)))


def count_tokens(
    nodes: Sequence[Node], calls: Sequence[Call], num_nodes: int | None = None, num_calls: int | None = None
) -> Generator[None, None, TokenCounts]:
    """Count a trace's tokens, yielding every few hundred nodes or calls.

    Args:
        nodes: the message graph; each node's parent is an index into it.
        calls: the model calls; each call's node is an index into `nodes`.
        num_nodes: how many of the nodes count, by default all.
        num_calls: how many of the calls count, by default all.

    Returns:
        The counts, as the generator's value.
    """
    num_nodes = len(nodes) if num_nodes is None else num_nodes
    num_calls = len(calls) if num_calls is None else num_calls
    used, completion_tokens = yield from _last_calls(calls, num_calls, num_nodes)
    parents, is_ordered = yield from _parents(nodes, num_nodes)
    leaves, upwards = yield from (_leaves_upwards(parents) if is_ordered else _leaves_under(parents))
    num_input = num_output = 0
    for end in range(len(upwards), 0, -NODES_PER_STEP):
        yield
        for node in reversed(upwards[max(0, end - NODES_PER_STEP) : end]):
            parent = parents[node]
            before = _NONE if parent == _NONE else used[parent]
            call = used[node]
            if call == _NONE:
                used[node] = before
                continue
            usage = _usage(calls, call)
            fed = 0 if before == _NONE else _usage(calls, before).total_tokens
            num_input += max(0, usage.input_tokens - fed)
            num_output += usage.completion_tokens * leaves[node]
    return TokenCounts(num_input, num_output, num_input + completion_tokens)


def _usage(calls: Sequence[Call], index: int) -> Usage:
    """The usage of a call that had one when it was looked at."""
    usage = calls[index].usage
    assert usage is not None  # noqa: S101 - nobody takes it away meanwhile
    return usage


def _last_calls(calls: Sequence[Call], num_calls: int, num_nodes: int) -> Generator[None, None, tuple[Indexes, int]]:
    """Return the index of each node's last call, `_NONE` where that has no usage, and all calls' completion tokens.

    In an array: a dict of as many nodes would take a millisecond to grow, and another to be looked through by the
    garbage collector.
    """
    used = array("q", [_NONE]) * num_nodes
    completion_tokens = 0
    for start in range(0, num_calls, NODES_PER_STEP):
        yield
        for index, call in enumerate(calls[start : min(start + NODES_PER_STEP, num_calls)], start):
            usage, node = call.usage, call.node
            if node is not None and 0 <= node < num_nodes:
                used[node] = _NONE if usage is None else index
            if usage is not None:
                completion_tokens += usage.completion_tokens
    return used, completion_tokens


def _parents(nodes: Sequence[Node], size: int) -> Generator[None, None, tuple[Indexes, bool]]:
    """Return each node's parent, `_NONE` where it is out of range, and whether each comes before its node."""
    parents = array("q")
    is_ordered = True
    for start in range(0, size, NODES_PER_STEP):
        yield
        found = map(_parent_of, nodes[start : min(start + NODES_PER_STEP, size)])
        parents.extend([_NONE if parent is None or not 0 <= parent < size else parent for parent in found])
        is_ordered = is_ordered and all(map(operator.lt, parents[start:], range(start, size)))
    return parents, is_ordered


def _leaves_upwards(parents: Indexes) -> Generator[None, None, tuple[Indexes, Sequence[int]]]:
    """Return what `_leaves_under` does, where each parent comes before its node."""
    leaves = array("q", bytes(8 * len(parents)))
    upwards = range(len(parents) - 1, -1, -1)
    for start in range(0, len(parents), NODES_PER_STEP):
        yield
        for node in upwards[start : start + NODES_PER_STEP]:
            leaves[node] = number = leaves[node] or 1
            parent = parents[node]
            if parent >= 0:
                leaves[parent] += number
    return leaves, upwards


def _leaves_under(parents: Indexes) -> Generator[None, None, tuple[Indexes, Sequence[int]]]:
    """Return the number of leaves under each node, and an order in which children come before parents.

    The nodes of a cycle are those that wait for a child when all others are done; their links are set to `_NONE` in
    `parents`.
    """
    size = len(parents)
    children = array("q", bytes(8 * size))  # of each node, how many are still to be done
    for step, parent in enumerate(parents):
        if not step % NODES_PER_STEP:
            yield
        if parent != _NONE:
            children[parent] += 1
    leaves = array("q", [0]) * size
    upwards = array("q")
    for node in range(size):
        if not node % NODES_PER_STEP:
            yield
        if not children[node]:
            leaves[node] = 1
            upwards.append(node)
    for step, node in enumerate(upwards):  # grows while it is walked
        if not step % NODES_PER_STEP:
            yield
        parent = parents[node]
        if parent != _NONE:
            leaves[parent] += leaves[node]
            children[parent] -= 1
            if not children[parent]:
                upwards.append(parent)
    if len(upwards) < size:
        yield from _cut_cycles(parents, children, leaves, upwards)
    return leaves, upwards


def _cut_cycles(parents: Indexes, children: Indexes, leaves: Indexes, upwards: Indexes) -> Generator[None, None, None]:
    """Make a root of each node that still waits for a child, a leaf too if that was its only one."""
    for node, waiting in enumerate(children):
        if not node % NODES_PER_STEP:
            yield
        if waiting:
            parents[node] = _NONE
            leaves[node] = leaves[node] or 1
            upwards.append(node)
