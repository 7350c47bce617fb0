"""The three ways to encode: threads at once, pieces one by one, classes that come and go."""

import asyncio
import gc
import inspect
import threading
import weakref

import pytest
from pydantic import BaseModel, create_model

from encoder.encode import aiter_json, iter_json, to_json
from tests.encoder import zoo
from tests.encoder.oracle import assert_same, oracle
from tests.naming import stable_id

LARGE = zoo.Tree(a=["x" * 100_000, list(range(50_000))], kids=[zoo.Tree(a=1) for _ in range(2000)])


def test_threads_meet_a_new_class_at_once() -> None:
    leaf = create_model("NewLeaf", x=(int, 1), y=(list[int], [1, 2]))
    cls: type[BaseModel] = create_model("New", a=(list[leaf], []), b=(leaf | None, None))
    model = cls(a=[leaf() for _ in range(200)], b=leaf())
    expected, written = oracle(model), []
    together = threading.Barrier(8)

    def encode() -> None:
        together.wait()
        written.append(to_json(model))

    threads = [threading.Thread(target=encode) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written == [expected] * 8


def test_a_class_that_nobody_uses_is_freed() -> None:
    def used() -> "weakref.ref[type[BaseModel]]":
        cls: type[BaseModel] = create_model("Passing", a=(int, 1), b=(list[zoo.Leaf], []))
        to_json(cls(b=[zoo.Leaf()]))
        return weakref.ref(cls)

    reference = used()
    gc.collect()
    assert reference() is None


def test_pieces_are_many_and_never_empty() -> None:
    pieces = list(iter_json(LARGE))
    assert all(pieces)
    assert len(pieces) > 3
    assert b"".join(pieces) == oracle(LARGE)


@pytest.mark.planned
def test_pieces_are_made_when_they_are_asked_for() -> None:
    model = zoo.Tree(a="x" * 1_000_000, kids=[zoo.Tree(a="early")])
    pieces = iter_json(model)
    first = next(pieces)
    model.kids[0].a = "late!"
    assert b"late!" in first + b"".join(pieces)


def test_two_at_once_do_not_meet() -> None:
    one, two = iter_json(LARGE), iter_json(LARGE)
    first, second = [], []
    for left, right in zip(one, two, strict=True):
        first.append(left)
        second.append(right)
    assert b"".join(first) == b"".join(second) == oracle(LARGE)


async def test_the_loop_runs_between_pieces() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    body = b"".join([piece async for piece in aiter_json(LARGE)])
    ticking.cancel()
    assert body == oracle(LARGE)
    assert ticks > 1


async def test_an_abandoned_async_encoding() -> None:
    pieces = aiter_json(LARGE)
    await anext(pieces)
    assert inspect.isasyncgen(pieces)
    await pieces.aclose()
    assert b"".join([piece async for piece in aiter_json(LARGE)]) == oracle(LARGE)


@pytest.mark.parametrize("kwargs", [{}, {"exclude": {"kids"}}, {"exclude_none": True}], ids=stable_id)
def test_a_large_model(kwargs: dict[str, object]) -> None:
    assert_same(LARGE, **kwargs)
