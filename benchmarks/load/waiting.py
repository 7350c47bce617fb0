"""The rollouts under way: thousands of tasks that wait, and wake up now and then as if an answer had come."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

ROLLOUTS: Final = 2000
"""So many are under way at any time."""
TURN_S: Final = 2.0
"""How long one waits for an answer, on average."""


@asynccontextmanager
async def rollouts_under_way(on_turn: Callable[[], object] = lambda: None) -> AsyncIterator[None]:
    """Have them wait, and wake up, inside of the `async with` block.

    Args:
        on_turn: called whenever one wakes up.
    """
    tasks = [asyncio.create_task(_turns(number, on_turn)) for number in range(ROLLOUTS)]
    try:
        await asyncio.sleep(TURN_S / 4)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _turns(seed: int, on_turn: Callable[[], object]) -> None:
    chance = random.Random(seed)
    while True:
        await asyncio.sleep(chance.uniform(0, 2 * TURN_S))
        on_turn()
