"""How many bytes records will be once encoded: told at once from a few of their nodes, and better with each encoded.

An estimate is a number of units, times the bytes that a unit of its group has turned out to be. For episodes and traces
the units are a guess in bytes made of a few nodes; for anything else a record is one unit. What the encoder sees
settles the bytes a unit, also of what is queued already.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from encoder import Episode, Trace

_RECORDS_LOOKED_AT: Final = 4
_TRACES_LOOKED_AT: Final = 4
_NODES_LOOKED_AT: Final = 3

# What a token takes in all columns that a node usually has, and a node beside its columns and its text.
_TOKEN_BYTES: Final = 22
_NODE_BYTES: Final = 400
_TRACE_BYTES: Final = 2_000
_PART_BYTES: Final = 1_000

_UNKNOWN_BYTES: Final = 4_096
"""A record whose like was never encoded."""

# The share that the past keeps with each record encoded: the mean follows the last hundred or so.
_KEPT: Final = 0.99

_MAX_GROUPS: Final = 32
_MAX_KINDS: Final = 256

_Kind: TypeAlias = tuple[str, Callable[[Any], int] | None]
"""The group of a class's records, and what tells their units where that is not one each."""

_KINDS: Final[dict[type, _Kind]] = {}
_MIXED: Final = "mixed"
_IN_BYTES: Final = frozenset({_MIXED, "bytes", "Episode", "Trace"})
"""The groups whose units are a guess in bytes."""


def _first_guess(group: str) -> float:
    """The bytes a unit of a group that was never encoded."""
    return 1.0 if group in _IN_BYTES else float(_UNKNOWN_BYTES)


class Estimate(NamedTuple):
    """What some records may be.

    Attributes:
        group: what their bytes a unit are learnt for.
        units: of each record.
    """

    group: str
    units: int


def estimate(records: Sequence[Any]) -> Estimate:
    """Look at a few of some records; there is at least one. It takes as long for thousands as for four."""
    if len(records) == 1:
        alone = _one(records[0])
        return alone if alone.units else Estimate(alone.group, 1)
    looked_at = [_one(record) for record in _spread(records, _RECORDS_LOOKED_AT)]
    group = looked_at[0].group
    if any(each.group != group for each in looked_at):
        looked_at = [Estimate(_MIXED, int(each.units * _first_guess(each.group))) for each in looked_at]
        group = _MIXED
    return Estimate(group, max(1, sum(each.units for each in looked_at) // len(looked_at)))


def _one(record: Any) -> Estimate:
    cls = type(record)
    known = _KINDS.get(cls)
    if known is None:
        known = _remember(cls)
    group, units_of = known
    if units_of is None:
        return Estimate(group, 1)
    try:
        return Estimate(group, units_of(record))
    except (AttributeError, TypeError):  # built without validation: the encoder will say what is wrong with it
        return Estimate(cls.__name__, 1)


def _remember(cls: type) -> _Kind:
    """How records of a class are guessed; asking whether one is a pydantic model's instance takes microseconds."""
    kind: _Kind = (cls.__name__, None)
    for known, (base, units_of) in _LOOKED_INTO.items():
        if issubclass(cls, base):
            kind = (known, units_of)
    if len(_KINDS) < _MAX_KINDS:
        _KINDS[cls] = kind
    return kind


def _episode(episode: Episode) -> int:
    traces = episode.traces
    some = _spread(traces, _TRACES_LOOKED_AT)
    return _TRACE_BYTES + sum(_TRACE_BYTES + _nodes(trace.nodes) for trace in some) * len(traces) // (len(some) or 1)


def _trace(trace: Trace) -> int:
    return _TRACE_BYTES + _nodes(trace.nodes)


def _nodes(nodes: Sequence[Any]) -> int:
    some = _spread(nodes, _NODES_LOOKED_AT)
    total = 0
    for node in some:
        content = getattr(node.message, "content", None) or ""
        text = len(content) if isinstance(content, str) else _PART_BYTES * len(content)
        total += _NODE_BYTES + text + _TOKEN_BYTES * len(node.token_ids)
    return total * len(nodes) // (len(some) or 1)


def _spread(items: Sequence[Any], count: int) -> Sequence[Any]:
    """So many of the items, from the middle of as many parts of equal length; all of them if there are fewer."""
    size = len(items)
    if size <= count:
        return items
    return [items[(2 * number + 1) * size // (2 * count)] for number in range(count)]


_LOOKED_INTO: Final[dict[str, tuple[type | tuple[type, ...], Callable[[Any], int]]]] = {
    "bytes": ((bytes, bytearray, memoryview), len),
    "Episode": (Episode, _episode),
    "Trace": (Trace, _trace),
}


class Scales:
    """The bytes a unit of each group, as the encoder sees them. Used under the queue's lock."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, float]] = {}

    def bytes_per_unit(self, group: str) -> float:
        """What a unit of a group is."""
        units, size = self._seen.get(group, (0.0, 0.0))
        return size / units if units else _first_guess(group)

    def learn(self, group: str, units: int, size: int) -> None:
        """A record of so many units was so many bytes."""
        if group not in self._seen and len(self._seen) >= _MAX_GROUPS:
            return
        seen_units, seen_size = self._seen.get(group, (0.0, 0.0))
        self._seen[group] = (seen_units * _KEPT + units, seen_size * _KEPT + size)
