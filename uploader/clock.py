"""The one place where this package asks for the time, for chance, or sleeps.

`uploader.testing.fake_time` replaces the clock in use, so that tests never wait.
"""

import asyncio
import random
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime


class Clock:
    """The real time."""

    def now(self) -> datetime:
        """The wall clock's time, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment, which nobody sets back."""
        return time.monotonic()

    def jitter(self) -> float:
        """A random number in [0, 1)."""
        return random.random()

    def sleep(self, delay_s: float, stop: threading.Event) -> None:
        """Wait, but no longer than until `stop` is set."""
        stop.wait(delay_s)

    async def asleep(self, delay_s: float, stop: asyncio.Event) -> None:
        """Wait without blocking the event loop, but no longer than until `stop` is set."""
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await stop.wait()


_REAL_CLOCK = Clock()
_clock = _REAL_CLOCK


def get_clock() -> Clock:
    """The clock in use."""
    return _clock


def set_clock(clock: Clock | None) -> None:
    """Use another clock from now on, in every thread; None brings the real one back."""
    global _clock
    _clock = clock or _REAL_CLOCK
