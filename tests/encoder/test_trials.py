import asyncio
import threading
import time
import weakref

import pytest

from encoder.trials import Trial, run_trials


def test_a_function_runs_in_a_thread() -> None:
    threads = []
    run_trials(lambda: threads.append(threading.current_thread()), 2, min_run_s=0)
    assert len(threads) == 2
    assert threading.main_thread() not in threads


def test_a_coroutine_function_runs_on_the_loop_and_its_holds_are_seen() -> None:
    async def hold() -> None:
        time.sleep(0.05)

    trials = run_trials(hold, 2, min_run_s=0)
    assert trials.stall.worst_ms >= 45
    assert all(seconds >= 0.05 for seconds in trials.seconds)


def test_each_run_has_an_idle_one_before_it() -> None:
    order: list[str] = []

    def work() -> None:
        order.append("work")

    trials = run_trials(work, 3, min_run_s=0.01, on_run=lambda number: order.append(f"run {number}"))
    assert order[0] == "work"  # the warm-up
    assert [word for word in order if word != "work"] == ["run 1", "run 2", "run 3"]
    assert len(trials.runs) == len(trials.idle_runs) == len(trials.seconds) == 3
    assert trials.idle_stall.ticks >= 3


def test_short_work_is_repeated_until_the_run_is_long_enough() -> None:
    calls: list[None] = []

    def work() -> None:
        calls.append(None)
        time.sleep(0.002)

    trial = Trial(work, min_run_s=0.02)
    calls.clear()
    seconds = trial.run()
    assert 1 < len(calls) <= 10
    assert seconds >= 0.002


def test_the_result_is_alive_until_the_probe_has_stopped() -> None:
    class Result:
        def __del__(self) -> None:
            freed_by.append(threading.current_thread())

    freed_by: list[threading.Thread] = []
    made: list[weakref.ref[Result]] = []

    def work() -> Result:
        result = Result()
        made.append(weakref.ref(result))
        return result

    async def alive() -> bool:
        return all(reference() is not None for reference in made)

    run_trials(work, 1, min_run_s=0)
    assert freed_by == [threading.main_thread()]
    assert asyncio.run(alive()) is False


def test_what_the_work_raises_comes_out() -> None:
    def fail() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        run_trials(fail, 1)
