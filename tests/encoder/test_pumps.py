"""Steps that come to something, run from a thread and on an event loop."""

import asyncio
import threading
from collections.abc import Generator

import pytest

from encoder import record_gaps
from encoder.pumps import work_off, work_off_on_loop


def counting(most: int, ran: list[int]) -> Generator[None, None, str]:
    for number in range(most):
        ran.append(number)
        yield
    return f"{most} steps"


def failing() -> Generator[None, None, None]:
    yield
    raise ValueError("no")


def test_steps_come_to_something() -> None:
    ran: list[int] = []
    with record_gaps() as gaps:
        assert work_off(counting(5, ran)) == "5 steps"
        assert asyncio.run(work_off_on_loop(counting(3, ran))) == "3 steps"
    assert ran == [0, 1, 2, 3, 4, 0, 1, 2]
    assert gaps.steps.count == 6 + 4


def test_errors_come_out() -> None:
    with pytest.raises(ValueError, match="no"):
        work_off(failing())
    with pytest.raises(ValueError, match="no"):
        asyncio.run(work_off_on_loop(failing()))
    assert work_off(counting(1, [])) == "1 steps"  # nothing is left that others would wait for


async def test_work_on_a_loop_is_done_one_after_another() -> None:
    ran: list[int] = []
    await asyncio.gather(*(work_off_on_loop(counting(500, ran)) for _ in range(4)))
    assert ran == list(range(500)) * 4


def test_threads_work_off_their_own() -> None:
    rans: list[list[int]] = [[], [], []]
    threads = [threading.Thread(target=work_off, args=(counting(2000, ran),)) for ran in rans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rans == [list(range(2000))] * 3
