"""Token counts by the compiled part, of message graphs whose parents come before their nodes."""

from array import array
from collections.abc import Generator, Sequence
from typing import Final

from encoder.compiled import native
from encoder.tokens import Call, Node, TokenCounts

_NONE: Final = -1
_COUNTS: Final = 3  # of a call: what went in, all, what came out

# So many times what one call may count, in a slice of nodes, fits into 63 bits.
_MOST_NODES: Final = 1 << 24

# Calls that are read between two yields, nodes that are read, and nodes that are looked up: some 100 microseconds each.
_CALLS_PER_STEP: Final = 512
_NODES_PER_STEP: Final = 2048
_LOOKUPS_PER_STEP: Final = 16 * 1024


def count_ordered(
    nodes: Sequence[Node], calls: Sequence[Call], num_nodes: int, num_calls: int
) -> Generator[None, None, TokenCounts | None]:
    """Count a trace's tokens as `count_tokens` does.

    Args:
        nodes: the message graph.
        calls: the model calls.
        num_nodes: how many of the nodes count.
        num_calls: how many of the calls count.

    Returns:
        The counts, as the generator's value. None where a parent comes later than its node, and for what only Python
        can count: other numbers than ints, or such as do not fit into 24 bits.
    """
    if type(nodes) is not list or type(calls) is not list or num_nodes > _MOST_NODES:
        return None
    used = array("q", [_NONE]) * num_nodes
    counts = array("q", bytes(8 * _COUNTS * num_calls))
    completion_tokens = 0
    for start in range(0, num_calls, _CALLS_PER_STEP):
        yield
        stop = min(start + _CALLS_PER_STEP, num_calls)
        if not native.read_calls(calls, start, stop, used, counts):
            return None
        completion_tokens += sum(counts[_COUNTS * start + _COUNTS - 1 : _COUNTS * stop : _COUNTS])
    parents = array("q", bytes(8 * num_nodes))
    for start in range(0, num_nodes, _NODES_PER_STEP):
        yield
        if not native.read_parents(nodes, start, min(start + _NODES_PER_STEP, num_nodes), parents):
            return None
    return (yield from _sums(parents, used, counts, completion_tokens))


def _sums(
    parents: "array[int]", used: "array[int]", counts: "array[int]", completion_tokens: int
) -> Generator[None, None, TokenCounts]:
    """The sums over a graph that has been read."""
    size = len(parents)
    leaves = array("q", bytes(8 * size))
    for stop in range(size, 0, -_LOOKUPS_PER_STEP):
        yield
        native.add_leaves(parents, leaves, max(0, stop - _LOOKUPS_PER_STEP), stop)
    num_input = num_output = 0
    for start in range(0, size, _LOOKUPS_PER_STEP):
        yield
        more_input, more_output = native.add_counts(
            parents, used, leaves, counts, start, min(start + _LOOKUPS_PER_STEP, size)
        )
        num_input += more_input
        num_output += more_output
    return TokenCounts(num_input, num_output, num_input + completion_tokens)
