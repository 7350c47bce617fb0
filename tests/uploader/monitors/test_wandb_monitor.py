"""Metrics and tables go to W&B in one thread: what it is told, in which order, and what becomes of its failures."""

import asyncio
import atexit
import importlib
import math
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.uploader.monitors.doubles import chat
from tests.uploader.monitors.wandb_doubles import FakeModule, FakeRun
from tests.uploader.worker.test_forks import in_child
from uploader.errors import ConfigurationError
from uploader.monitors import WandbMonitor, wandb_monitor, wandb_session
from uploader.runs import exits


@pytest.fixture(autouse=True)
def wandb(monkeypatch: pytest.MonkeyPatch) -> FakeModule:
    module = FakeModule()
    monkeypatch.setitem(sys.modules, "wandb", module)
    monkeypatch.setattr(wandb_monitor, "find_spec", lambda name: object())
    monkeypatch.setattr(wandb_session, "_FIRST_PAUSE_S", 0)
    return module


async def test_metrics_are_drawn_over_a_step_of_their_own(wandb: FakeModule) -> None:
    monitor = WandbMonitor(project="p", name="n")
    await monitor.log({"loss": 0.5, "bad": math.nan, "n": np.int64(3), "list": [1.0, math.inf]}, 7)
    await monitor.log({"reward": 1.0}, 3, "eval")
    await monitor.log({"bad": math.nan}, 4)
    await monitor.log({"bad": [math.nan]}, 4)
    assert await monitor.flush()
    assert wandb.arguments == [{"project": "p", "name": "n"}]
    assert wandb.run.defined == [("step", {"hidden": True}), ("*", {"step_metric": "step"})]
    assert wandb.run.rows == [
        {"loss": 0.5, "n": 3, "list": [1.0], "step": 7},
        {"eval/reward": 1.0, "step": 3},
        {"bad": [], "step": 4},
    ]
    assert (monitor.stats.metrics, monitor.stats.url) == (3, FakeRun.url)
    await monitor.finalize()
    assert wandb.run.finished == [0]


async def test_its_own_values_are_logged_as_they_are(wandb: FakeModule) -> None:
    class Histogram:
        pass

    Histogram.__module__ = "wandb.sdk.data_types.histogram"
    histogram = Histogram()
    async with WandbMonitor() as monitor:
        await monitor.log({"weights": histogram, "other": Histogram}, 0)
    assert wandb.run.rows == [{"weights": histogram, "other": str(Histogram), "step": 0}]


async def test_some_episodes_of_each_step_are_in_its_table(wandb: FakeModule, caplog: pytest.LogCaptureFixture) -> None:
    async with WandbMonitor(episodes_per_step=3) as monitor:
        for step in (0, 1, 0, 2):  # the first step's table is logged when the third begins
            await monitor.log([chat(100 * step + number) for number in range(10)], step)
        await monitor.log(chat(500), 0)  # too late
        await monitor.log([chat(501)] * 5, 0)
        await monitor.log(chat(600), 2, "eval", "effective")
        assert await monitor.flush()
        assert [table[:2] for table in wandb.run.tables] == [(0, "episodes")]
        assert monitor.stats.records == 47
    assert sorted(table[:2] for table in wandb.run.tables) == [
        (0, "episodes"),
        (1, "episodes"),
        (2, "episodes"),
        (2, "eval/effective/episodes"),
    ]
    for step, name, rows in wandb.run.tables:
        assert [row["step"] for row in rows] == [step] * len(rows)
        assert len({row["id"] for row in rows}) == len(rows) == (3 if name == "episodes" else 1) or step == 0
    assert monitor.stats.sampled >= 10
    assert monitor.stats.dropped == 6
    assert caplog.text.count("came after the table of their step was logged") == 1


async def test_there_may_be_no_tables(wandb: FakeModule) -> None:
    async with WandbMonitor(episodes_per_step=0) as monitor:
        await monitor.log([chat()] * 5, 0)
    assert (wandb.run.tables, monitor.stats.records, monitor.stats.dropped) == ([], 5, 0)


async def test_a_record_without_a_row_costs_itself_alone(wandb: FakeModule) -> None:
    async with WandbMonitor() as monitor:
        await monitor.log([chat(1), object(), chat(2)], 0)
    ((_, _, rows),) = wandb.run.tables
    assert [row["id"] for row in rows] == ["e1", "e2"]
    assert (monitor.stats.failures, monitor.stats.dropped) == (1, 1)
    assert "object cannot be a record" in str(monitor.stats.last_error)


async def test_everything_happens_in_one_thread(wandb: FakeModule, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[str] = set()

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            threads.add(threading.current_thread().name)
            return function(*arguments, **options)

        return call

    for owner, name in ((wandb, "init"), (wandb, "Table"), (FakeRun, "log"), (FakeRun, "finish")):
        monkeypatch.setattr(owner, name, noting(getattr(owner, name)))
    async with WandbMonitor() as monitor:
        with pytest.raises(StopIteration):
            monitor.log([chat()] * 20, 0).send(None)  # it never gave way
        await monitor.log({"loss": 0.5}, 0)
    assert threads == {wandb_monitor.THREAD}
    assert wandb_monitor.THREAD not in {thread.name for thread in threading.enumerate()}


async def test_a_run_that_does_not_open_is_tried_again(wandb: FakeModule, caplog: pytest.LogCaptureFixture) -> None:
    wandb.refusals = [ConnectionError("no network"), ConnectionError("no network")]
    monitor = WandbMonitor()
    await monitor.log({"loss": 0.5}, 0)
    assert await monitor.flush()
    await monitor.finalize()
    assert wandb.run.rows == [{"loss": 0.5, "step": 0}]
    assert (monitor.stats.failures, monitor.stats.dropped) == (2, 0)
    assert caplog.text.count("failed at opening its run") == 1


async def test_the_end_waits_no_longer_than_its_time(wandb: FakeModule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb_session, "_FIRST_PAUSE_S", 60)
    wandb.refusals = [ConnectionError("no network")] * 100
    monitor = WandbMonitor(finish_timeout_s=0)
    await monitor.log({"loss": 0.5}, 0)
    await monitor.log(chat(), 0)
    while not monitor.stats.failures:
        await asyncio.sleep(0.001)
    await monitor.finalize()
    assert monitor.stats.dropped == 2
    assert "finishing its run: TimeoutError" in str(monitor.stats.last_error)


async def test_a_call_that_fails_is_counted(wandb: FakeModule, caplog: pytest.LogCaptureFixture) -> None:
    monitor = WandbMonitor()
    wandb.run.errors = [RuntimeError("gone"), RuntimeError("gone")]
    for step in range(4):
        await monitor.log({"loss": step}, step)
    await monitor.finalize()
    assert [row["step"] for row in wandb.run.rows] == [2, 3]
    assert (monitor.stats.failures, monitor.stats.dropped, monitor.stats.metrics) == (2, 2, 4)
    assert caplog.text.count("failed at calling W&B") == 1


async def test_a_run_that_is_given_is_finished(wandb: FakeModule) -> None:
    run = FakeRun()
    with pytest.raises(ValueError, match="broken"):
        async with WandbMonitor(run):
            raise ValueError("broken")
    assert run.finished == [1]
    unused = FakeRun()
    await WandbMonitor(unused).finalize()
    assert unused.finished == [0]
    assert wandb.arguments == []


async def test_what_was_never_used_opens_nothing(wandb: FakeModule) -> None:
    monitor = WandbMonitor()
    assert await monitor.flush()
    await monitor.finalize()
    await monitor.log({"loss": 0.5}, 0)
    assert (wandb.arguments, monitor.stats.dropped) == ([], 1)
    exits.forget(monitor)


async def test_an_offline_run_has_no_address(wandb: FakeModule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeRun, "offline", True)
    async with WandbMonitor() as monitor:
        await monitor.flush()
    assert monitor.stats.url is None


async def test_many_chosen_records_do_not_wait(
    wandb: FakeModule, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wandb_monitor, "_MAX_RECORDS", 3)
    go_on = threading.Event()
    real = wandb.init
    monkeypatch.setattr(wandb, "init", lambda **arguments: (go_on.wait(30), real(**arguments))[1])
    monitor = WandbMonitor(episodes_per_step=50)
    await monitor.log([chat(number) for number in range(20)], 0)
    assert monitor.stats.waiting <= 4
    go_on.set()
    await monitor.finalize()
    ((_, _, rows),) = wandb.run.tables
    assert 1 <= len(rows) <= 4
    assert monitor.stats.dropped == 20 - len(rows)
    assert caplog.text.count("were chosen while 3 calls of W&B waited") == 1


async def test_a_sampled_record_is_let_go(wandb: FakeModule) -> None:
    import weakref

    monitor = WandbMonitor()
    episode = chat()
    reference = weakref.ref(episode)
    await monitor.log([episode], 0)
    del episode
    assert await monitor.flush()
    while reference() is not None:
        await asyncio.sleep(0.001)
    await monitor.finalize()


def test_w_and_b_is_imported_before_the_loop_runs(wandb: FakeModule, monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    monkeypatch.setattr(wandb_monitor, "import_module", imported.append)
    WandbMonitor()
    assert imported == ["wandb"]
    monkeypatch.setenv("RANK", "1")
    WandbMonitor()
    assert imported == ["wandb"]
    monkeypatch.delenv("RANK")

    async def make() -> None:
        WandbMonitor()

    asyncio.run(make())
    assert imported == ["wandb"]


def test_the_exit_hook_comes_and_goes(wandb: FakeModule, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: list[Any] = []
    monkeypatch.setattr(atexit, "register", hooks.append)
    monkeypatch.setattr(atexit, "unregister", hooks.remove)
    monitor = WandbMonitor()

    async def use() -> None:
        await monitor.log({"loss": 0.5}, 0)
        await monitor.flush()

    asyncio.run(use())
    assert monitor in exits._open.values()
    (hook,) = hooks
    hook()
    assert wandb.run.finished == [1]
    assert (hooks, monitor in exits._open.values()) == ([], False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_child_leaves_the_run_to_its_parent(wandb: FakeModule) -> None:
    monitor = WandbMonitor()
    asyncio.run(monitor.log({"loss": 0.5}, 0))

    def child() -> None:
        async def use() -> None:
            await monitor.log({"loss": 0.25}, 1)
            assert await monitor.flush()
            await monitor.finalize()

        asyncio.run(use())
        assert monitor.stats.dropped == 1
        assert wandb.run.finished == []

    in_child(child)
    asyncio.run(monitor.finalize())
    assert wandb.run.rows == [{"loss": 0.5, "step": 0}]
    assert wandb.run.finished == [0]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"episodes_per_step": -1}, "episodes_per_step"),
        ({"max_message_chars": 1.5}, "max_message_chars"),
        ({"finish_timeout_s": "1"}, "finish_timeout_s"),
        ({"run": FakeRun(), "project": "p"}, "run"),
    ],
)
def test_options_that_cannot_be_used(options: Any, option: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        WandbMonitor(**options)
    assert raised.value.option == option


def test_without_w_and_b_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb_monitor, "find_spec", importlib.util.find_spec)
    monkeypatch.delitem(sys.modules, "wandb")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ConfigurationError, match=r"pip install 'unstall\[wandb\]'"):
        WandbMonitor()
