import asyncio
import contextvars
import gc
import threading
import weakref
from typing import Any

import pytest

from uploader.loop_thread import LoopThread

NAME = "own-loop"


def left() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == NAME]


async def nothing() -> None: ...


async def here() -> tuple[int, asyncio.AbstractEventLoop]:
    return threading.get_ident(), asyncio.get_running_loop()


async def test_calls_run_on_one_loop_in_one_other_thread() -> None:
    thread = LoopThread(NAME)
    assert left() == []
    first, second = await asyncio.gather(thread.call(here), thread.call(here))
    assert first == second
    assert first[0] != threading.get_ident()
    assert first[1] is not asyncio.get_running_loop()
    assert left() == [NAME]
    await thread.aclose(nothing)
    assert left() == []


async def test_calls_run_side_by_side() -> None:
    thread = LoopThread(NAME)
    barriers: list[asyncio.Barrier] = []

    async def meet() -> None:
        if not barriers:
            barriers.append(asyncio.Barrier(3))
        await barriers[0].wait()

    async with asyncio.timeout(30):
        await asyncio.gather(*(thread.call(meet) for _ in range(3)))
    await thread.aclose(nothing)


async def test_context_variables_are_seen() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)

    async def read() -> int:
        return variable.get()

    thread = LoopThread(NAME)
    assert await thread.call(read) == 7
    await thread.aclose(nothing)


async def test_failures_come_through() -> None:
    async def fail() -> None:
        raise OSError("disk")

    thread = LoopThread(NAME)
    for _ in range(2):
        with pytest.raises(OSError, match="disk"):
            await thread.call(fail)
    with pytest.raises(OSError, match="disk"):
        await thread.aclose(fail)
    assert left() == []


async def test_a_cancellation_is_handed_on_and_waits_for_the_end() -> None:
    started, ended = threading.Event(), threading.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.01)
            ended.set()

    thread = LoopThread(NAME)
    task = asyncio.create_task(thread.call(work))
    while not started.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert (await thread.call(here))[0]
    await thread.aclose(nothing)


async def test_the_last_call_runs_over_there_and_then_there_are_no_others() -> None:
    thread = LoopThread(NAME)
    place = await thread.call(here)
    found: list[Any] = []

    async def last() -> None:
        found.append(await here())

    await thread.aclose(last)
    assert found == [place]
    with pytest.raises(RuntimeError, match="closed"):
        await thread.call(here)
    await thread.aclose(last)  # harmless
    assert left() == []


async def test_a_thread_that_was_never_needed_is_not_started() -> None:
    thread = LoopThread(NAME)
    found: list[Any] = []

    async def last() -> None:
        found.append(await here())

    await thread.aclose(last)
    assert found == [await here()]
    with pytest.raises(RuntimeError, match="closed"):
        await thread.call(here)


def test_it_outlives_the_loops_that_use_it() -> None:
    thread = LoopThread(NAME)
    assert asyncio.run(thread.call(here)) == asyncio.run(thread.call(here))
    asyncio.run(thread.aclose(nothing))


def test_one_that_nobody_closed_ends_when_it_is_forgotten() -> None:
    thread = LoopThread(NAME)
    asyncio.run(thread.call(nothing))
    (running,) = (each for each in threading.enumerate() if each.name == NAME)
    del thread
    gc.collect()
    running.join(30)
    assert not running.is_alive()


async def test_nothing_of_a_call_is_kept() -> None:
    class Value:
        pass

    async def give_back(value: Value) -> Value:
        return value

    thread = LoopThread(NAME)
    gc.collect()
    gc.disable()
    try:
        reference = weakref.ref(await thread.call(give_back, Value()))
        await thread.call(nothing)  # the other loop has taken its next step
        assert reference() is None
    finally:
        gc.enable()
    await thread.aclose(nothing)
