import asyncio
import contextlib

from uploader.delivery.loops import wind_up


async def forever() -> None:
    await asyncio.Event().wait()


async def stubborn() -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


def running(function: object) -> tuple[asyncio.AbstractEventLoop, "asyncio.Task[None]"]:
    loop = asyncio.new_event_loop()
    task = loop.create_task(function())  # type: ignore[operator]
    loop.run_until_complete(asyncio.sleep(0))
    return loop, task


def test_what_runs_is_cancelled_and_the_loop_closed() -> None:
    loop, task = running(forever)
    wind_up(loop)
    assert (task.cancelled(), loop.is_closed()) == (True, True)


def test_a_loop_with_something_that_heeds_no_cancellation_is_left_as_it_is() -> None:
    loop, task = running(stubborn)
    wind_up(loop)
    assert (task.done(), loop.is_closed()) == (False, False)


def test_a_loop_in_which_nothing_runs_is_closed() -> None:
    loop = asyncio.new_event_loop()
    wind_up(loop)
    assert loop.is_closed()
