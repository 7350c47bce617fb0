"""The monitors of the process."""

import pytest

from tests.uploader.monitors.doubles import Failing, Remembering, chat
from uploader.monitors import GroupStats, finalize, log, setup, stats


async def test_what_is_logged_goes_to_those_that_were_set_up() -> None:
    monitor = Remembering()
    group = setup(monitor, Failing(OSError("no disk")))
    await log({"loss": 0.5}, 0)
    await log([chat()], step=0, kind="eval", subset="effective")
    assert group.stats["remembering"] == stats()["remembering"] == monitor.stats
    assert (stats().metrics, stats().records) == (1, 1)
    await finalize()
    assert monitor.calls == ["start", "finalize"]
    assert stats()["Failing"].last_error is not None


async def test_without_any_nothing_happens_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    for step in range(2):
        await log({"loss": 0.5}, step)
    await finalize()
    assert stats() == GroupStats("none")
    assert ["call uploader.monitors.setup first" in record.getMessage() for record in caplog.records] == [True]


async def test_others_take_the_place_of_those_before(caplog: pytest.LogCaptureFixture) -> None:
    before, after = Remembering(), Remembering()
    first = setup(before)
    setup(after)
    assert len(caplog.records) == 1
    await log({"loss": 0.5}, 0)
    assert (len(before.metrics), len(after.metrics)) == (0, 1)
    await first.finalize()
    await finalize()
    setup(before)
    assert len(caplog.records) == 1


async def test_other_ranks_set_nothing_up(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("DP_RANK", "1")
    monitor = Remembering()
    setup(monitor)
    setup(monitor)
    await log({"loss": 0.5}, 0)
    await finalize()
    assert (monitor.calls, monitor.metrics, caplog.records) == ([], [], [])
