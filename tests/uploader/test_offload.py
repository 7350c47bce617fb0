import asyncio
import contextvars
import threading
from typing import Any

import pytest

from uploader.offload import Offload


async def test_calls_run_one_after_another_in_a_thread_of_their_own() -> None:
    thread = Offload("own")
    names = [await thread.call(lambda: threading.current_thread().name) for _ in range(3)]
    assert set(names) == {"own_0"}
    await thread.aclose()
    assert "own_0" not in {each.name for each in threading.enumerate()}


async def test_context_variables_are_seen() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    thread = Offload("own")
    assert await thread.call(variable.get) == 7
    await thread.aclose()


async def test_the_last_call_comes_last_and_its_failure_is_raised() -> None:
    order = []

    def last() -> None:
        order.append("last")
        raise OSError("disk")

    thread = Offload("own")
    thread.call(order.append, "first")
    with pytest.raises(OSError, match="disk"):
        await thread.aclose(last)
    assert order == ["first", "last"]


async def test_cancellation_waits_until_the_thread_is_gone() -> None:
    running, go_on = threading.Event(), threading.Event()
    order = []

    def work() -> None:
        running.set()
        go_on.wait()
        order.append("worked")

    async def use() -> None:
        thread = Offload("own")
        try:
            await thread.call(work)
        finally:
            await thread.aclose(lambda: order.append("closed"))

    task = asyncio.create_task(use())
    while not running.is_set():
        await asyncio.sleep(0.001)
    for _ in range(3):  # once while it works, and again while it closes
        task.cancel()
        await asyncio.sleep(0.01)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert order == ["worked", "closed"]
    assert "own_0" not in {each.name for each in threading.enumerate()}


def test_a_loop_that_cancels_every_task_still_has_the_last_call() -> None:
    order: list[str] = []
    kept: list[Any] = []

    async def main() -> None:
        running = threading.Event()

        async def use() -> None:
            thread = Offload("own")
            try:
                await thread.call(running.wait)
            finally:
                await thread.aclose(lambda: order.append("closed"))

        kept.append(asyncio.create_task(use()))
        await asyncio.sleep(0.01)
        asyncio.get_running_loop().call_later(0.05, running.set)

    asyncio.run(main())
    assert order == ["closed"]
