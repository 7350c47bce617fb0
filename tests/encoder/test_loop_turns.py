"""Several tasks that encode on one event loop share its budget."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from encoder import loop_turns
from encoder.encode import aiter_json, to_json
from encoder.loop_turns import loop_turn


class Numbers(BaseModel):
    numbers: list[int]


async def joined(model: BaseModel) -> bytes:
    return b"".join([piece async for piece in aiter_json(model)])


async def test_tasks_that_encode_at_once_all_end() -> None:
    models = [Numbers(numbers=list(range(size, 60_000))) for size in range(8)]
    assert await asyncio.gather(*map(joined, models)) == [to_json(model) for model in models]


async def test_only_one_task_encodes_between_two_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []
    pauses = 0

    class Watched(loop_turns.LoopTurn):
        async def pause_if_due(self) -> None:
            nonlocal pauses
            inside.append(id(asyncio.current_task()))
            pauses += 1
            for _ in range(3):
                await asyncio.sleep(0)
            assert inside.pop() == id(asyncio.current_task())
            assert not inside

    monkeypatch.setattr(loop_turns, "LoopTurn", Watched)
    await asyncio.gather(*(joined(Numbers(numbers=list(range(30_000)))) for _ in range(4)))
    assert pauses > 4


async def test_the_turn_is_free_while_a_piece_is_worked_on_and_after_a_cancellation() -> None:
    pieces: Any = aiter_json(Numbers(numbers=list(range(100_000))))
    await anext(pieces)
    assert await joined(Numbers(numbers=[1])) == b'{"numbers":[1]}'
    task = asyncio.create_task(joined(Numbers(numbers=list(range(300_000)))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pieces.aclose()
    assert not loop_turn()._lock.locked()


def test_each_loop_has_a_turn_of_its_own() -> None:
    async def mine() -> loop_turns.LoopTurn:
        assert loop_turn() is loop_turn()
        return loop_turn()

    assert asyncio.run(mine()) is not asyncio.run(mine())
