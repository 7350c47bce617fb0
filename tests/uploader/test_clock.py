import asyncio
import threading
from datetime import UTC

from uploader.clock import Clock


def test_a_sleep_ends_early_when_it_is_told_to() -> None:
    stop = threading.Event()
    stop.set()
    Clock().sleep(3600, stop)
    Clock().sleep(0, threading.Event())


async def test_an_async_sleep_too() -> None:
    stop = asyncio.Event()
    waiting = asyncio.create_task(Clock().asleep(3600, stop))
    await asyncio.sleep(0)
    stop.set()
    await waiting
    await Clock().asleep(0, asyncio.Event())


def test_time_and_chance() -> None:
    assert Clock().now().tzinfo is UTC
    assert 0 <= Clock().jitter() < 1
    assert Clock().monotonic() <= Clock().monotonic()
