"""Counts a trace's tokens once a record, however many fields show them.

The three counts of a trace, and an episode's three sums, are properties; each would count anew. Within `counted_once`
(a plain dump) and within one encode (which brings its own memo) the first one counts for all.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from encoder.compiled import IS_COMPILED
from encoder.compiled_tokens import count_ordered
from encoder.paths import PATHS
from encoder.stepwise import finish
from encoder.tokens import Call, Node, TokenCounts, count_tokens

Memo = dict[str, Any]
"""What was found out during one record."""

_KEY: Final = "token counts"

# What is remembered of a trace: its numbers of nodes and of calls, and the counts.
_NUMBERS: Final = 2 + len(TokenCounts._fields)

LengthOf = Callable[[Any], int]
"""How many items of a list are written; another thread may have appended more."""

_memo: ContextVar[Memo | None] = ContextVar("token_counts", default=None)


class Countable(Protocol):
    """A trace, as far as its tokens go."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The message graph."""

    @property
    def calls(self) -> Sequence[Call]:
        """The model calls."""


@contextmanager
def counted_once() -> Iterator[None]:
    """Within it, in this thread or task, `counts` counts each trace once; nothing may change meanwhile."""
    token = _memo.set({})
    try:
        yield
    finally:
        _memo.reset(token)


def counts(trace: Countable) -> TokenCounts:
    """Return a trace's token counts."""
    memo = _memo.get()
    return finish(counts_in_steps(trace, {} if memo is None else memo))


def counts_in_steps(
    trace: Countable, memo: Memo, length_of: LengthOf | None = None
) -> Generator[None, None, TokenCounts]:
    """Return a trace's token counts as the generator's value, yielding every few hundred nodes.

    Args:
        trace: the trace.
        memo: looked into first, and told the counts.
        length_of: how many nodes and calls are written; by default those that the memo's counts are of.
    """
    # Positions by id, and numbers in a row: ten thousand small objects would set the garbage collector off. The record
    # keeps its traces alive meanwhile, so ids stay theirs.
    positions: dict[int, int]
    numbers: list[int]
    positions, numbers = memo.setdefault(_KEY, ({}, []))
    position = positions.get(id(trace))
    num_nodes, num_calls = map(length_of or len, (trace.nodes, trace.calls))
    if position is not None:
        known = numbers[position : position + _NUMBERS]
        if length_of is None or known[:2] == [num_nodes, num_calls]:
            return TokenCounts(*known[2:])
    found = yield from _counted(trace, num_nodes, num_calls)
    positions[id(trace)] = len(numbers)
    numbers += (num_nodes, num_calls, *found)
    return found


def _counted(trace: Countable, num_nodes: int, num_calls: int) -> Generator[None, None, TokenCounts]:
    """Count, by the compiled part where that is there and can."""
    if IS_COMPILED and PATHS.compiled:
        found = yield from count_ordered(trace.nodes, trace.calls, num_nodes, num_calls)
        if found is not None:
            return found
    return (yield from count_tokens(trace.nodes, trace.calls, num_nodes, num_calls))


def has_own_counts(cls: type, owner: type) -> bool:
    """Whether a class redefines one of the counts that it would inherit from `owner`."""
    return any(getattr(cls, name) is not getattr(owner, name) for name in TokenCounts._fields)
