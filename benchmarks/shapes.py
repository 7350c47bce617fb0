"""Adversarial shapes: each is enormous in one place, where an encoder that only goes node by node stalls."""

import asyncio
import gc
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import numpy as np
import orjson

from encoder import AssistantMessage, Episode, MessageNode, ToolCall, Trace, UserMessage
from encoder.synthetic import synthetic_episode
from encoder.trials import Work

MB: Final = 1_000_000

Build = Callable[[], Episode]


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape, by its name in tables, and what makes an episode of it."""

    name: str
    build: Build


def all_shapes(one_in: int = 1) -> list[Shape]:
    """Every shape of one episode.

    Args:
        one_in: to have them that many times smaller than their names say.
    """
    strings = {"ASCII": "x y z. ", "CJK": "東京都庁舎", "emoji": "🚀🙂👍🏽", "escapes": '"\\\x01\n\x1f"'}
    return [
        *(Shape(f"100 MB: {name}", partial(_text, text, 100 * MB // one_in)) for name, text in strings.items()),
        Shape("10 M token ids", partial(_ids, 10_000_000 // one_in)),
        Shape("5 M floats", partial(_floats, 5_000_000 // one_in)),
        Shape("1 M keys", lambda: _state({f"key {number}": number for number in range(1_000_000 // one_in)})),
        Shape("1 M dicts", lambda: _state({"items": [{"a": n, "b": "c"} for n in range(1_000_000 // one_in)]})),
        Shape("200 levels", lambda: _state(_nested(200))),
        Shape("100 k nodes of 3", lambda: synthetic_episode(5, num_nodes=100_000 // one_in, tokens_per_node=3)),
        Shape("10 k traces", partial(_traces, 10_000 // one_in)),
        Shape("50 MB info", partial(_info, 50 * MB // one_in)),
        Shape("80 MB argument", partial(_arguments, 80 * MB // one_in)),
    ]


def one_node(**fields: Any) -> Episode:
    """A small episode whose last node has the given fields."""
    episode = synthetic_episode(5, num_nodes=4, tokens_per_node=40)
    episode.traces[0].nodes.append(MessageNode(**{"message": UserMessage(content="go on"), "timestamp": 1.0, **fields}))
    return episode


def _text(unit: str, size: int) -> Episode:
    """So many bytes in UTF-8, of a few characters over and over."""
    return one_node(message=UserMessage(content=unit * (size // len(unit.encode()))))


def _ids(length: int) -> Episode:
    return one_node(token_ids=np.random.default_rng(5).integers(0, 151_936, length, dtype=np.int32))


def _floats(length: int) -> Episode:
    return one_node(logprobs=-np.random.default_rng(5).standard_exponential(length, dtype=np.float32))


def _state(item: dict[str, Any]) -> Episode:
    """Any JSON, as the state that a provider keeps."""
    return one_node(message=AssistantMessage(content=None, provider_state=[item]))


def _nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"text": "deep" * 1000}
    for _ in range(levels - 1):
        inner = {"inner": inner, "text": "beside" * 100}
    return inner


def _traces(length: int) -> Episode:
    episode = synthetic_episode(5, num_nodes=3, tokens_per_node=40)
    trace = episode.traces[0]
    episode.traces = [Trace.model_validate(trace.__dict__ | {"id": f"{number:032x}"}) for number in range(length)]
    return episode


def _info(size: int) -> Episode:
    episode = one_node()
    entry = {"score": 0.5, "tags": ["a", "b"], "note": "measured once more " * 20, "parts": {"x": 1, "y": None}}
    count = size // len(orjson.dumps(entry))
    episode.traces[0].info = {"seen": [dict(entry) for _ in range(count)]}
    return episode


def _arguments(size: int) -> Episode:
    code = '{"path": "a.py", "code": "' + 'print(\\"hello\\")\\n' * (size // 20) + '"}'
    return one_node(message=AssistantMessage(tool_calls=[ToolCall(id="call_1", name="run", arguments=code)]))


@contextmanager
def ten_million_live_objects() -> Iterator[None]:
    """A heap as a long run has it: a full garbage collection takes seconds."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        heap = [[number] for number in range(10_000_000)]
    finally:
        if was_enabled:
            gc.enable()
    try:
        yield
    finally:
        heap.clear()


@contextmanager
def another_thread_appending(episode: Episode) -> Iterator[None]:
    """Meanwhile another thread appends a node to the episode's trace each millisecond, until they are twice as many."""
    stop = threading.Event()
    nodes = episode.traces[0].nodes
    length = len(nodes)

    def append() -> None:
        while not stop.wait(0.001) and len(nodes) < 2 * length:
            nodes.append(nodes[-1])

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        del nodes[length:]


def while_appending(episode: Episode, work: Work) -> Work:
    """Some work, another thread appending to the episode all the time."""

    async def on_the_loop() -> object:
        with another_thread_appending(episode):
            return await cast("Awaitable[object]", work())

    def in_a_thread() -> object:
        with another_thread_appending(episode):
            return work()

    return on_the_loop if inspect.iscoroutinefunction(work) else in_a_thread


def at_once(works: Sequence[Work]) -> Work:
    """All of some works at the same time: in a thread each, or as tasks of the loop."""

    async def on_the_loop() -> object:
        return await asyncio.gather(*(cast("Awaitable[object]", work()) for work in works))

    def in_threads() -> object:
        with ThreadPoolExecutor(len(works)) as threads:
            return [done.result() for done in [threads.submit(work) for work in works]]

    return on_the_loop if inspect.iscoroutinefunction(works[0]) else in_threads
