"""The ways to make an episode's JSON that are compared: all give the same bytes."""

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, Protocol

import orjson

from encoder import Episode, Trace
from encoder.pacer import Pacer
from encoder.trials import MIN_RUN_S, Work

NODE_BY_NODE_BUDGET_S: Final = 0.001
_NODES_MARK: Final = "\ue000nodes\ue000"
_QUOTED_MARK: Final = orjson.dumps(_NODES_MARK)


class Encodable(Protocol):
    """What episodes and the models of others have in common."""

    def to_record(self) -> Any: ...
    def to_json(self) -> bytes: ...
    def iter_json(self) -> Iterator[bytes]: ...
    def aiter_json(self) -> AsyncIterator[bytes]: ...


def dumps(value: object) -> bytes:
    """orjson alone."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def plain(episode: Encodable) -> bytes:
    """The plain way: pydantic's dump of the whole record, then orjson."""
    return dumps(episode.to_record())


def drain(episode: Encodable) -> int:
    """Take the pieces of iter_json one by one and let each go, as an uploader does; how many bytes they were."""
    return sum(map(len, episode.iter_json()))


async def adrain(episode: Encodable) -> int:
    """The same, of aiter_json, on the event loop."""
    size = 0
    async for piece in episode.aiter_json():
        size += len(piece)
    return size


def node_at_a_time(episode: Episode) -> bytes:
    """The known way: a model_dump and an orjson.dumps a node, time.sleep(0) each millisecond, one join at the end."""
    pieces: list[bytes] = []
    record = episode.model_dump(
        mode="json", exclude={"traces"}, exclude_none=True, context={"float_decimals": 4}, exclude_computed_fields=True
    )
    record["traces"] = _NODES_MARK
    record |= {name: getattr(episode, name) for name in Episode.model_computed_fields}
    head, tail = dumps(record).split(_QUOTED_MARK)
    pieces.append(head + b"[")
    for position, trace in enumerate(episode.traces):
        pieces.append(b"," if position else b"")
        pieces.extend(_trace_pieces(trace))
    pieces.append(b"]" + tail)
    return b"".join(pieces)


def _trace_pieces(trace: Trace) -> Iterator[bytes]:
    record: dict[str, Any] = {}
    for key, value in trace.model_dump(mode="json", exclude={"nodes"}, exclude_none=True).items():
        record[key] = value
        if key == "tools":
            record["nodes"] = _NODES_MARK
    head, tail = dumps(record).split(_QUOTED_MARK)
    yield head + b"["
    due = time.perf_counter() + NODE_BY_NODE_BUDGET_S
    for position, node in enumerate(trace.nodes):
        piece = dumps(node.model_dump(mode="json", exclude_none=True, context={"float_decimals": 4}))
        yield b"," + piece if position else piece
        if time.perf_counter() >= due:
            time.sleep(0)
            due = time.perf_counter() + NODE_BY_NODE_BUDGET_S
    yield b"]" + tail


def count() -> int:
    """Nothing but counting, for as long as a run lasts, giving the GIL away as the encoder does."""
    pacer = Pacer()
    end_s = time.perf_counter() + MIN_RUN_S
    number = 0
    while time.perf_counter() < end_s:
        number += sum(range(1000))  # some 10 microseconds
        pacer.pause_if_due()
    return number


def ways(episode: Encodable) -> dict[str, Work]:
    """Each way by its name, as work to be tried."""
    found: dict[str, Work] = {"plain": lambda: plain(episode)}
    if isinstance(episode, Episode):
        found["node at a time"] = lambda: node_at_a_time(episode)

    async def on_the_loop() -> int:
        return await adrain(episode)

    return found | {
        "to_json": episode.to_json,
        "iter_json": lambda: drain(episode),
        "aiter_json": on_the_loop,
    }


WAYS: Final = ("plain", "node at a time", "to_json", "iter_json", "aiter_json")
OURS: Final = ("to_json", "iter_json", "aiter_json")
