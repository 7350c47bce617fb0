"""Short garbage collections, as the documentation tells an orchestrator to have them.

A collection goes through whatever was made since the last one and still lives: of thousands of rollouts that wait, that
is milliseconds. What is frozen every tenth of a second is never gone through, and it takes a microsecond.
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

FREEZE_S: Final = 0.1


@asynccontextmanager
async def frozen_heap() -> AsyncIterator[None]:
    """Keep the heap frozen inside of the `async with` block."""
    gc.collect()
    gc.freeze()
    task = asyncio.create_task(_freeze_now_and_then())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        gc.unfreeze()


async def _freeze_now_and_then() -> None:
    while True:
        await asyncio.sleep(FREEZE_S)
        gc.freeze()
