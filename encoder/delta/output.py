"""Write the record that a ledger holds: its texts as they came, between the names of its fields."""

from collections.abc import Iterator

import orjson

from encoder.delta.ledger import RUN, TRACES, Holder, Ledger

_NULL = b"null"


def record_pieces(ledger: Ledger, run: bytes | None) -> Iterator[bytes]:
    """The bytes of a record in pieces of any length.

    Args:
        ledger: what it consists of.
        run: what stands for its run, and for that of each of its traces; None for what was sent.
    """
    traces = list(ledger.traces.values())
    yield from _object(ledger.record, run, traces)


def _object(holder: Holder, run: bytes | None, traces: list[Holder]) -> Iterator[bytes]:
    before = b"{"
    for name in holder.fields:
        key = before + orjson.dumps(name) + b":"
        if name in holder.lists:
            yield key
            yield from _traces(traces, run) if name == TRACES else _items(holder, name)
        elif name == RUN:
            value = b"".join(holder.values[name].pieces) if run is None else run
            if value == _NULL:
                continue
            yield key + value
        else:
            yield key
            yield from holder.values[name].pieces
        before = b","
    yield b"}" if before == b"," else b"{}"


def _items(holder: Holder, name: str) -> Iterator[bytes]:
    before = b"["
    for chunk in holder.chunks.get(name, ()):
        if chunk.size:
            yield before
            yield from chunk.pieces
            before = b","
    yield b"]" if before == b"," else b"[]"


def _traces(traces: list[Holder], run: bytes | None) -> Iterator[bytes]:
    before = b"["
    for trace in traces:
        yield before
        yield from _object(trace, run, [])
        before = b","
    yield b"]" if before == b"," else b"[]"
