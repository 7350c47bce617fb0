"""Rollouts wait and wake up for as long as they are asked to, and no longer."""

import asyncio

import pytest

from benchmarks.load import waiting


@pytest.mark.asyncio
async def test_they_wake_up_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TURN_S", 0.01)
    before, turns = asyncio.all_tasks(), []
    async with waiting.rollouts_under_way(lambda: turns.append(1)):
        assert len(asyncio.all_tasks() - before) == waiting.ROLLOUTS
        while len(turns) < waiting.ROLLOUTS:
            await asyncio.sleep(0.001)
    assert asyncio.all_tasks() == before
    seen = len(turns)
    await asyncio.sleep(0.03)
    assert len(turns) == seen
