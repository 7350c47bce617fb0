"""Several monitors as one: none hurts the others, or whoever logs."""

import asyncio
import logging
from typing import Any

import pytest

from tests.uploader.monitors.doubles import Failing, Remembering, chat
from uploader.errors import ConfigurationError
from uploader.monitors import Kind, Monitor, MonitorGroup, Subset, Where


async def test_everything_goes_to_all_of_them() -> None:
    monitors = [Remembering("a"), Remembering("b")]
    group = MonitorGroup(monitors)
    episode = chat()
    async with group:
        await group.log({"loss": 0.5}, 1, "eval")
        await group.log(episode, 2, subset="effective")
        await group.log((record for record in [episode, episode]), 3)
        assert await group.flush()
    for monitor in monitors:
        assert monitor.metrics == [({"loss": 0.5}, Where(1, "eval"))]
        assert monitor.records == [([episode], Where(2, "train", "effective")), ([episode, episode], Where(3))]
        assert monitor.calls == ["start", "flush", "finalize"]
    assert monitors[0].records[0][0] is not monitors[1].records[0][0]
    assert (group.stats.metrics, group.stats.records, group.stats.failures) == (1, 3, 0)
    assert group.stats["b"].records == 3
    with pytest.raises(KeyError):
        group.stats["c"]


async def test_one_that_fails_costs_the_others_nothing(caplog: pytest.LogCaptureFixture) -> None:
    first, last = Remembering("first"), Remembering("last")
    group = MonitorGroup([first, Failing(OSError("no disk")), last])
    group.start()
    for step in range(3):
        await group.log({"loss": 0.5}, step)
        await group.log(chat(), step)
    assert not await group.flush()
    stats = group.stats
    await group.finalize()
    for monitor in (first, last):
        assert (len(monitor.metrics), len(monitor.records)) == (3, 3)
        assert monitor.calls == ["start", "flush", "finalize"]
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert [text.split(";")[0] for text in said] == [
        "The monitor Failing failed at its start",
        "The monitor Failing failed at metrics",
        "The monitor Failing failed at records",
        "The monitor Failing failed at its flush",
        "The monitor Failing failed at its stats",
        "The monitor Failing failed at its finalize",
    ]
    assert stats["Failing"].failures == 9  # one start, three rows, three records, one flush, and the stats themselves
    assert stats.failures == 9
    assert stats.last_error == "its stats: OSError: no disk"


async def test_what_cannot_be_used_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    monitor = Remembering()
    group = MonitorGroup([monitor])
    await group.log({"loss": 0.5}, -1)
    await group.log(None, 0)

    def broken() -> Any:
        yield chat()
        raise RuntimeError("no more")

    await group.log(broken(), 0)
    assert (monitor.metrics, monitor.records) == ([], [])
    assert group.stats.failures == 3
    assert group.stats.last_error is not None
    assert "no more" in group.stats.last_error
    assert len(caplog.records) == 2  # two of one kind


async def test_a_cancellation_of_whoever_logs_goes_through() -> None:
    class Waiting(Monitor):
        async def log(self, data: Any, step: int, kind: Kind = "train", subset: Subset = "all") -> None:
            await asyncio.sleep(60)

    group = MonitorGroup([Waiting()])
    task = asyncio.create_task(group.log({}, 0))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert group.stats.failures == 0


async def test_a_cancellation_of_the_monitors_own_is_a_failure() -> None:
    class Cancelled(Monitor):
        def take_metrics(self, values: dict[str, Any], where: Where) -> None:
            raise asyncio.CancelledError

    group = MonitorGroup([Cancelled()])
    await group.log({}, 0)
    assert group.stats["Cancelled"].failures == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_goes_through(error: type[BaseException]) -> None:
    group = MonitorGroup([Failing(error())])
    with pytest.raises(error):
        group.log({"loss": 0.5}, 0).send(None)


async def test_an_error_that_ends_the_work_is_handed_on() -> None:
    monitor = Remembering()
    with pytest.raises(ValueError, match="broken"):
        async with MonitorGroup([monitor]):
            raise ValueError("broken")
    assert monitor.calls == ["start", "fail broken"]


async def test_the_end_is_once_and_nothing_is_taken_behind_it(caplog: pytest.LogCaptureFixture) -> None:
    monitor = Remembering()
    group = MonitorGroup([monitor])
    assert not group.is_finalized
    await group.finalize()
    await group.finalize()
    for _ in range(2):
        await group.log({"loss": 0.5}, 0)
    assert group.is_finalized
    assert monitor.calls == ["finalize"]
    assert monitor.metrics == []
    assert len(caplog.records) == 1


async def test_the_ends_of_all_go_on_at_once() -> None:
    meeting = asyncio.Barrier(2)

    class Meeting(Monitor):
        async def finalize(self) -> None:
            await asyncio.wait_for(meeting.wait(), 30)

    group = MonitorGroup([Meeting(), Meeting()])
    await group.finalize()
    assert group.stats.failures == 0


def test_other_ranks_have_no_monitors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    monitor = Remembering()

    async def use() -> MonitorGroup:
        async with MonitorGroup([monitor]) as group:
            await group.log({"loss": 0.5}, 0)
        return group

    group = asyncio.run(use())
    assert (monitor.calls, monitor.metrics) == ([], [])
    assert group.stats.monitors == ()


def test_a_monitor_is_a_monitor() -> None:
    with pytest.raises(ConfigurationError, match="monitors: int is no Monitor"):
        MonitorGroup([5])  # type: ignore[list-item]
