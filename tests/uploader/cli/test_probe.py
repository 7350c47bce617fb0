import asyncio
import time

from uploader.cli.probe import Probe


async def test_it_sees_a_hold_that_covers_all_of_the_work() -> None:
    """No timing is asserted but that of a sleep that certainly blocks."""
    async with Probe() as probe:
        time.sleep(0.05)
    assert max(probe.stalls_s) >= 0.045


async def test_it_ticks_while_nothing_happens() -> None:
    async with Probe() as probe:
        while len(probe.stalls_s) < 5:
            await asyncio.sleep(0.001)
    assert min(probe.stalls_s) > -0.001
