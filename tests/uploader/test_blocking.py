import asyncio
import contextvars
import threading

import pytest

from uploader.blocking import in_thread


async def test_it_runs_in_another_thread_and_returns() -> None:
    assert await in_thread(threading.get_ident) != threading.get_ident()


async def test_errors_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 1, 0)


async def test_context_variables_are_seen() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    assert await in_thread(variable.get) == 5


async def test_a_cancelled_caller_waits_until_the_work_has_ended() -> None:
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        release.wait()
        ended.set()

    task = asyncio.create_task(in_thread(work))
    while not started.is_set():
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # again, while it waits
    await asyncio.sleep(0)
    assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
