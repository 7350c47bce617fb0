"""A record that grows while it is written: each part is written up to a length that it had, and all parts agree."""

import asyncio
import itertools
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, field_serializer

from encoder import EncodeError, Episode, ModelCall, Trace, Usage
from encoder.arguments import DumpArguments
from encoder.encode import aiter_json, iter_json, to_json
from encoder.splicer import splice
from encoder.synthetic import synthetic_episode
from encoder.writers.base import KEYS_AT_ONCE
from tests.naming import stable_id

WAYS = ("to_json", "iter_json", "aiter_json")
RECORD: dict[str, Any] = {"exclude_none": True, "context": {"float_decimals": 4}}
LARGE = 3 * KEYS_AT_ONCE


def encoded(model: BaseModel, way: str, **arguments: Any) -> bytes:
    if way == "to_json":
        return to_json(model, **arguments)
    if way == "iter_json":
        return b"".join(iter_json(model, **arguments))
    return asyncio.run(joined(aiter_json(model, **arguments)))


async def joined(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


def encoded_while(model: BaseModel, change: Callable[[], object], **arguments: Any) -> bytes:
    """The model's JSON, with a change at every moment at which another thread could make one."""
    pieces = []
    for piece in splice(model, arguments):
        pieces.append(piece)
        change()
    return b"".join(pieces)


@contextmanager
def meanwhile(change: Callable[[], bool]) -> Iterator[None]:
    """Another thread makes a change over and over, as long as there is one, and is let in as often as can be."""
    stop = threading.Event()
    interval_s = sys.getswitchinterval()

    def go_on() -> None:
        while not stop.is_set() and change():
            pass

    thread = threading.Thread(target=go_on)
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval_s)


class Rollout:
    """An episode that goes on: a node, the call that made it, now and then another trace."""

    def __init__(self, num_nodes: int, max_nodes: int = 10**9) -> None:
        self.episode = synthetic_episode(5, num_nodes=num_nodes, tokens_per_node=20)
        self._max_nodes = max_nodes
        self._steps = itertools.count()

    def go_on(self) -> bool:
        step = next(self._steps)
        traces = self.episode.traces
        trace = traces[step % len(traces)]
        nodes = trace.nodes
        nodes.append(nodes[step % len(nodes)].model_copy(update={"parent": len(nodes) - 1}))
        usage = Usage(prompt_tokens=step, completion_tokens=7)
        trace.calls.append(ModelCall(node=len(nodes) - 1, usage=usage))
        if not step % 50 and len(traces) < 10:
            fields = trace.__dict__ | {"nodes": nodes[:3], "calls": [], "id": f"{step:032x}"}
            traces.append(Trace.model_construct(**fields))
        return sum(len(trace.nodes) for trace in traces) < self._max_nodes


def check(body: bytes, episode: Episode) -> int:
    """Assert that a record is one of the episode as it was, and tell its number of nodes."""
    record = json.loads(body)
    again = Episode.model_validate_json(body)
    total = 0
    for mine, trace, written in zip(episode.traces, again.traces, record["traces"], strict=False):
        size = len(trace.nodes)
        assert trace.id == mine.id
        assert written["nodes"] == [node.model_dump(mode="json", **RECORD) for node in mine.nodes[:size]]
        assert [call.usage for call in trace.calls] == [call.usage for call in mine.calls[: len(trace.calls)]]
        assert all(call.node is None or call.node < size for call in trace.calls)
        for name in ("num_input_tokens", "num_output_tokens", "num_total_tokens"):
            assert getattr(trace, name) == written[name], "the counts are those of the nodes and calls written"
        total += size
    for name in ("num_input_tokens", "num_output_tokens", "num_total_tokens"):
        assert record[name] == sum(trace[name] for trace in record["traces"])
    return total


@pytest.mark.parametrize("num_nodes", [3, 200, 1500])
@pytest.mark.parametrize("exclude", [None, {"run"}, {"traces": {0: {"run"}}}], ids=stable_id)
def test_a_change_at_every_step(num_nodes: int, exclude: Any) -> None:
    rollout = Rollout(num_nodes)
    body = encoded_while(rollout.episode, rollout.go_on, exclude=exclude, **RECORD)
    assert check(body, rollout.episode) >= num_nodes


def test_a_node_is_left_out_at_every_step() -> None:
    rollout = Rollout(200)
    body = encoded_while(rollout.episode, rollout.go_on, exclude={"traces": {0: {"nodes": {1}}}}, **RECORD)
    written = json.loads(body)["traces"][0]["nodes"]
    nodes = rollout.episode.traces[0].nodes
    assert 199 <= len(written) < len(nodes) - 1
    expected = [node.model_dump(mode="json", **RECORD) for node in (nodes[0], *nodes[2 : len(written) + 1])]
    assert written == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("num_nodes", [3, 200])
def test_another_thread_goes_on_with_the_episode(way: str, num_nodes: int) -> None:
    rollout = Rollout(num_nodes, max_nodes=num_nodes + 300)
    with meanwhile(rollout.go_on):
        bodies = [encoded(rollout.episode, way, **RECORD) for _ in range(8)]
    seen = [check(body, rollout.episode) for body in bodies]
    assert seen == sorted(seen)


def test_the_counts_are_of_the_nodes_written_where_the_trace_was_tried_before() -> None:
    # What makes the episode too heavy for one call is met after its trace, whose counts are known by then.
    rollout = Rollout(2)
    rollout.episode.traces.append(synthetic_episode(6, num_nodes=400, tokens_per_node=200).traces[0])
    check(encoded_while(rollout.episode, rollout.go_on, **RECORD), rollout.episode)


class Held(BaseModel):
    model_config = ConfigDict(extra="allow")
    info: dict[str, Any] = {}
    scores: dict[str, int] = {}
    numbers: list[int] = []
    anything: Any = None


def held(**fields: Any) -> Held:
    """A model that holds the very containers."""
    return Held.model_construct(**fields)


class Growing:
    """Containers of every kind, large or small, that get one more item each at a time."""

    def __init__(self, size: int, most: int = 10**9) -> None:
        keys = {f"k{number}": number for number in range(size)}
        self.containers: dict[str, Any] = {
            "info": dict(keys),
            "scores": dict(keys),
            "numbers": list(range(size)),
            "by number": {number: number for number in range(size)},
            "set": set(range(size)),
            "tokens": list(range(size)),
            "texts": [f"text {number}" for number in range(size)],
        }
        names = ("by number", "set", "tokens", "texts")
        fields = {name: self.containers[name] for name in ("info", "scores", "numbers")}
        self.model = held(**fields, anything={name: self.containers[name] for name in names})
        self._numbers = itertools.count(size)
        self._most = most

    def grow(self) -> bool:
        number = next(self._numbers)
        for name, container in self.containers.items():
            if isinstance(container, dict):
                container[number if name == "by number" else f"k{number}"] = number
            elif isinstance(container, set):
                container.add(number)
            else:
                container.append(f"text {number}" if name == "texts" else number)
        return number < self._most

    def check(self, body: bytes, size: int) -> None:
        record = json.loads(body)
        written = {**record, **record["anything"]}
        for name, container in self.containers.items():
            if isinstance(container, set):
                assert set(range(size)) <= set(written[name]) <= container
                assert len(set(written[name])) == len(written[name])
            elif isinstance(container, dict):
                members = [(str(key), value) for key, value in container.items()]
                assert list(written[name].items()) == members[: len(written[name])]
            else:
                assert written[name] == container[: len(written[name])]
            assert len(written[name]) >= size


SIZES = [5, 300, LARGE]


@pytest.mark.parametrize("size", SIZES)
def test_containers_that_grow_at_every_step(size: int) -> None:
    growing = Growing(size)
    growing.check(encoded_while(growing.model, growing.grow), size)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", SIZES)
def test_another_thread_lets_containers_grow(way: str, size: int) -> None:
    growing = Growing(size, most=size + 3000)
    with meanwhile(growing.grow):
        bodies = [encoded(growing.model, way) for _ in range(8)]
    for body in bodies:
        growing.check(body, size)


@pytest.mark.parametrize("field", ["info", "scores"])
def test_keys_that_are_removed_at_every_step(field: str) -> None:
    members = {f"k{number}": number for number in range(LARGE)}
    model = held(**{field: dict(members)})
    items = getattr(model, field)

    def remove() -> None:
        items.pop(next(reversed(items)), None) if len(items) > LARGE // 2 else items.pop("k0", None)

    written = json.loads(encoded_while(model, remove))[field]
    assert written.items() <= members.items()
    assert LARGE // 2 <= len(written) < LARGE


@pytest.mark.parametrize("field", ["numbers", "anything"])
def test_a_list_that_shrinks_at_every_step(field: str) -> None:
    model = held(**{field: list(range(50_000))})
    items = getattr(model, field)

    def shrink() -> None:
        del items[-20_000:]

    written = json.loads(encoded_while(model, shrink))[field]
    assert written == list(range(len(written)))


def test_a_member_that_is_gone_when_its_turn_comes() -> None:
    model = held(info={f"k{number}": "x" * 100 for number in range(LARGE)})

    def swap() -> None:  # of the same size, so that nothing seems to have changed
        if model.info.pop(f"k{LARGE - 1}", None):
            model.info["late"] = 1

    assert f"k{LARGE - 1}" not in json.loads(encoded_while(model, swap))["info"]


class Panicking(BaseModel):
    values: dict[float, Any]


class Leaf(BaseModel):
    grow: Any

    @field_serializer("grow")
    def _grow(self, grow: Callable[[], None]) -> int:
        grow()
        return 1


@pytest.mark.parametrize(("arguments", "path"), [({}, "$.values"), ({"round_trip": True}, "$")])
def test_a_dict_that_grows_while_pydantic_dumps_it_is_an_error_with_a_path(
    arguments: DumpArguments, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = Panicking(values={})

    def grow() -> None:
        model.values[float(len(model.values))] = 1

    model.values.update({-1.0: Leaf(grow=grow), -2.0: 2})
    with pytest.raises(EncodeError, match="dictionary changed size") as caught:
        to_json(model, **arguments)
    assert caught.value.path == path
    assert "panicked" in capfd.readouterr().err
