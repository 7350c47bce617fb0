"""What every monitor does with what it is given."""

import math
from typing import Any

import numpy as np
import pytest

from tests.uploader.monitors.doubles import Failing, Remembering, chat
from uploader.errors import ConfigurationError
from uploader.monitors import Monitor, MonitorStats, Where


async def test_metrics_and_records_are_told_apart() -> None:
    monitor = Remembering()
    episode = chat()
    await monitor.log({"loss": 0.5}, 3)
    await monitor.log(episode, step=4, kind="eval", subset="effective")
    await monitor.log([], 5)
    assert monitor.metrics == [({"loss": 0.5}, Where(3, "train", "all"))]
    assert monitor.records == [([episode], Where(4, "eval", "effective"))]


async def test_non_finite_metrics_are_left_out_with_one_warning_that_names_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    monitor = Remembering()
    row = {"loss": math.nan, "grad": np.float32("inf"), "reward": 0.5, "step_s": np.float64(1.0), "n": 3}
    for step in range(3):
        await monitor.log(row, step)
    await monitor.log({**row, "kl": -math.inf}, 3)
    assert [values for values, _ in monitor.metrics] == [{"reward": 0.5, "step_s": 1.0, "n": 3}] * 4
    first, second = (record.getMessage() for record in caplog.records)
    assert "left out: loss, grad;" in first
    assert "left out: kl;" in second


@pytest.mark.parametrize("variable", ["RANK", "DP_RANK"])
async def test_other_ranks_log_nothing(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "1")
    monitor = Remembering()
    async with monitor:
        await monitor.log({"loss": 0.5}, 0)
        await monitor.log(chat(), -1)
    assert (monitor.metrics, monitor.records) == ([], [])
    assert monitor.calls == ["finalize"]


async def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(ConfigurationError, match="step"):
        await Remembering().log({"loss": 0.5}, -1)


async def test_a_monitor_is_a_context_manager() -> None:
    monitor = Remembering()
    async with monitor as entered:
        assert entered is monitor
    with pytest.raises(ValueError, match="broken"):
        async with monitor:
            raise ValueError("broken")
    assert monitor.calls == ["start", "finalize", "start", "fail broken"]


async def test_a_monitor_may_do_nothing() -> None:
    monitor = Monitor()
    async with monitor:
        await monitor.log({"loss": 0.5}, 0)
        await monitor.log([chat()], 0)
        assert await monitor.flush()
    assert monitor.stats == MonitorStats("Monitor")


async def test_an_error_finalizes_what_has_no_way_of_its_own_to_fail() -> None:
    ended: list[str] = []

    class Ending(Monitor):
        async def finalize(self) -> None:
            ended.append("finalize")

    await Ending().fail(ValueError())
    assert ended == ["finalize"]


async def test_alone_a_monitors_errors_are_raised() -> None:
    monitor: Any = Failing(KeyError("x"))
    with pytest.raises(KeyError):
        await monitor.log({"loss": 0.5}, 0)
