"""An episode as it is at one moment, without a copy of what is in it.

A rollout goes on while a delta is encoded. What is encoded is a stand-in whose lists end where they ended when it was
made: the nodes, the calls and the token counts of a trace agree, and what comes later is for the next delta.
"""

from collections.abc import Generator
from typing import Any, Final

from encoder.records import Episode, Trace
from encoder.schema import stand_in
from encoder.writers.snapshots import lengths_of

Subject = Episode[Any] | Trace[Any]
"""What can be streamed."""

# Stand-ins that are made between two moments to give way: a few microseconds each.
_TRACES_AT_ONCE: Final = 16


def frozen(record: Subject) -> Generator[None, None, Any]:
    """A stand-in of a record as it is now; each of its traces, too, is as it was at one moment."""
    values = _values(record)
    traces = values.get("traces") if isinstance(record, Episode) else None
    if type(traces) is list:
        for position, trace in enumerate(traces):
            if isinstance(trace, Trace):
                traces[position] = stand_in(trace, _values(trace))
            if not (position + 1) % _TRACES_AT_ONCE:
                yield
    return stand_in(record, values)


def _values(record: Subject) -> dict[str, Any]:
    """A record's fields, its lists as long as they are at this moment."""
    values = record.__dict__.copy()
    lengths = lengths_of(values.values())
    for name, value in values.items():
        if type(value) is list:
            values[name] = value[: lengths[id(value)]]
    return values
