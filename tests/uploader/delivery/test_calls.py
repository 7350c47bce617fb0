import asyncio
import threading

import pytest

from uploader.delivery.calls import DaemonCalls


async def test_a_call_runs_on_a_daemon_thread_and_gives_its_result() -> None:
    calls = DaemonCalls("test-disk", 2)
    thread = await calls.call(threading.current_thread)
    assert (thread.name, thread.daemon) == ("test-disk", True)
    calls.close()
    await asyncio.to_thread(thread.join, 10)


async def test_an_error_is_raised_where_it_was_asked_for() -> None:
    calls = DaemonCalls("test-disk", 1)
    with pytest.raises(ZeroDivisionError):
        await calls.call(lambda: 1 // 0)
    assert await calls.call(lambda: 7) == 7
    calls.close()


async def test_no_more_threads_than_allowed_and_no_more_than_are_needed() -> None:
    calls, names, together = DaemonCalls("test-disk", 3), set(), threading.Barrier(3)

    def note() -> None:
        names.add(threading.get_ident())
        together.wait(10)

    await calls.call(int)
    await calls.call(int)
    assert calls._num_threads == 1
    await asyncio.gather(*(calls.call(note) for _ in range(6)))
    assert len(names) == calls._num_threads == 3
    calls.close()


async def test_a_cancelled_caller_leaves_its_call_running() -> None:
    calls, go, ran = DaemonCalls("test-disk", 1), threading.Event(), threading.Event()

    def work() -> None:
        assert go.wait(10)
        ran.set()

    task = asyncio.create_task(calls.call(work))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    await calls.wait_idle()
    assert ran.is_set()
    calls.close()
