"""How late an event loop's ticks come: the stalls that work on other threads causes.

The probe ticks before the work starts and takes the gaps between consecutive ticks: a clock that starts together with
the work misses a hold of the GIL that covers all of it.
"""

import asyncio
import time
from types import TracebackType
from typing import Final, Self

TICK_S: Final = 0.001
_WARM_UP_TICKS: Final = 5


class Probe:
    """Ticks every millisecond inside an `async with` block.

    Attributes:
        stalls_s: for each tick, how much later than asked it came, in seconds.
    """

    def __init__(self) -> None:
        self.stalls_s: list[float] = []
        self._stopping = False
        self._warm = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._tick())
        await self._warm.wait()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        if self._task is not None:
            await self._task  # the last tick covers the end of the work

    async def _tick(self) -> None:
        for _ in range(_WARM_UP_TICKS):
            await asyncio.sleep(TICK_S)
        self._warm.set()
        last = time.perf_counter()
        while not self._stopping:
            await asyncio.sleep(TICK_S)
            now = time.perf_counter()
            self.stalls_s.append(now - last - TICK_S)
            last = now
