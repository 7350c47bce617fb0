"""Whose turn it is to encode on an event loop, when several of its tasks do so at once.

Each pass of a loop runs every task that is ready. Eight that encode for a millisecond each would hold it for eight; so
they share one budget, one of them works at a time, and the loop has its passes in between.
"""

import asyncio
from types import TracebackType
from typing import Final, Self
from weakref import WeakKeyDictionary

from encoder.pacer import Pacer

# A timer that is due becomes a future's result in one pass of the loop, and wakes its task in the next; only then does
# the task run. Giving way for a single pass would let it wait through three budgets.
_LOOP_PASSES: Final = 3


class LoopTurn:
    """The turn of one event loop, to be held by `async with` while encoding on it, and the budget that all share."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._pacer = Pacer()

    async def __aenter__(self) -> Self:
        await self._lock.acquire()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._lock.release()

    async def pause_if_due(self) -> None:
        """Let the loop do everything else where the budget is used up. The turn is kept: nobody else encodes then."""
        if self._pacer.is_due():
            for _ in range(_LOOP_PASSES):
                await asyncio.sleep(0)
            self._pacer.restart()


_turns: "WeakKeyDictionary[asyncio.AbstractEventLoop, LoopTurn]" = WeakKeyDictionary()


def loop_turn() -> LoopTurn:
    """The turn of the running event loop."""
    loop = asyncio.get_running_loop()
    turn = _turns.get(loop)
    if turn is None:
        turn = _turns[loop] = LoopTurn()
    return turn
