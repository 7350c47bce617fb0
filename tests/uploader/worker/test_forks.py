"""A forked child starts empty, whatever lock its parent holds, and sends nothing of the parent's."""

import multiprocessing
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, Bench, Gated, hold, lines_of, workers
from uploader.worker.counts import Counts

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    # The warning is about what these tests show to work.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]


def in_child(work: Callable[[], object]) -> None:
    """Run a check in a forked child; its failure is the test's."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - the parent raises it
            os.write(writing, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(pid, 0)
    assert status == 0, said


def logs(bench: Bench) -> Callable[[], None]:
    """A check for the child: it is empty, and can log."""
    pid, parents = os.getpid(), list(bench.deliveries)

    def work() -> None:
        assert os.getpid() != pid
        assert bench.counts == Counts()
        before = len(bench.disk.all)
        assert bench.worker.submit([b'"child"'])
        assert bench.worker.flush(TIMEOUT_S)
        assert bench.counts.submitted == bench.counts.spooled == 1
        assert [bench.disk.text(batch) for batch in bench.disk.all[before:]] == [b'"child"\n']
        assert [len(delivery.offered) for delivery in bench.deliveries[len(parents) :]] == [1]
        assert all(delivery.abandoned for delivery in parents)
        assert bench.disk.abandoned

    return work


def held_by_another_thread(lock: Any) -> Callable[[], None]:
    """Have a lock held by a thread, which the child will not have; call what is returned to let it go."""
    held, let_go = threading.Event(), threading.Event()

    def hold_it() -> None:
        with lock:
            held.set()
            assert let_go.wait(TIMEOUT_S)

    thread = threading.Thread(target=hold_it)
    thread.start()
    assert held.wait(TIMEOUT_S)

    def done() -> None:
        let_go.set()
        thread.join(TIMEOUT_S)

    return done


LOCKS: dict[str, Callable[[Any], Any]] = {
    "ledger": lambda worker: worker._engine.ledger.lock,
    "handover": lambda worker: worker._engine.sealing._handover._changed,
    "begin": lambda worker: worker._engine.beginning._first,
    "opened": lambda worker: worker._engine._opened._cond,
    "close": lambda worker: worker._closing,
    "closed": lambda worker: worker._closed._cond,
    "leftovers": lambda worker: worker._engine.leftovers._changes,
    "room": lambda worker: worker._engine.keeper._room._cond,
    "encoder": lambda worker: worker._engine.threads[0].ended._cond,
    "compressor": lambda worker: worker._engine.threads[1].ended._cond,
    "reports": lambda worker: worker._engine.reporting.thread.ended._cond,
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_fork_while_a_lock_is_held(name: str) -> None:
    bench = Bench(deal=hold)
    done = held_by_another_thread(LOCKS[name](bench.worker))
    try:
        in_child(logs(bench))
    finally:
        done()


def test_no_lock_is_forgotten_above() -> None:
    bench = Bench()
    engine: Any = bench.worker._engine
    locks = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Event)
    parts = {
        "worker": bench.worker,
        "engine": engine,
        **{name: part for name, part in vars(engine).items() if type(part).__module__.startswith("uploader.")},
        "handover": engine.sealing._handover,
        "beginning": engine.beginning,
        "thread": engine.threads[0],
        "reports": engine.reporting.thread,
    }
    values = [(part, name, value) for part, its in parts.items() for name, value in vars(its).items()]
    found = {(part, name) for part, name, value in values if isinstance(value, locks)}
    assert found == {
        ("worker", "_closing"),
        ("worker", "_closed"),
        ("engine", "_opened"),
        ("beginning", "_first"),
        ("ledger", "lock"),
        ("handover", "_changed"),
        ("keeper", "_room"),
        ("leftovers", "_changes"),
        ("thread", "ended"),
        ("thread", "_again"),  # never set and never locked for longer than its wait
        ("reports", "ended"),
        ("reports", "_again"),
    }


def test_a_fork_at_work_sends_nothing_twice() -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    bench.worker.submit([b"1"])
    assert bench.worker.flush(TIMEOUT_S)
    bench.worker.submit([gated, b"2"])
    assert gated.reached.wait(TIMEOUT_S)
    in_child(logs(bench))
    gated.gate.set()
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [b"1", b"{}", b"2"]
    assert bench.counts == Counts(submitted=3, spooled=3)


def test_a_child_of_a_closed_worker_has_a_closed_one() -> None:
    bench = Bench()
    bench.worker.close(0)

    def work() -> None:
        assert not bench.worker.submit([b"{}"])

    in_child(work)


def test_a_child_closes_without_its_parent_s_records() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1"] * 5)

    def work() -> None:
        assert bench.worker.close(TIMEOUT_S).stats.counts == Counts()

    in_child(work)


def test_of_a_worker_that_is_gone_but_at_work_the_child_holds_nothing() -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1"])
    assert bench.worker.flush(TIMEOUT_S)
    workers.clear()
    del bench.worker

    def work() -> None:
        assert bench.disk.abandoned
        assert [delivery.abandoned for delivery in bench.deliveries] == [True]

    in_child(work)


def log_in_a_process(number: int) -> tuple[int, int]:
    bench = Bench(deal=hold)
    bench.worker.submit([b"%d" % number])
    assert bench.worker.flush(TIMEOUT_S)
    counts = bench.worker.close(0.1).stats.counts
    return counts.submitted, counts.spooled


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_multiprocessing(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(log_in_a_process, range(3)) == [(1, 1)] * 3


EXITS = """
import threading, time
from tests.uploader.worker.doubles import Bench, Gated, hold
bench = Bench(deal=hold)
gated = Gated()
bench.worker.submit([gated])
gated.reached.wait()
print(sorted(thread.name for thread in threading.enumerate() if not thread.daemon))
"""


def test_the_interpreter_s_exit_waits_for_no_thread() -> None:
    """The record's encoder would wait for half a minute, and then fail."""
    child = subprocess.run([sys.executable, "-c", EXITS], capture_output=True, text=True, timeout=25, check=False)
    assert (child.stdout.strip(), child.stderr, child.returncode) == ("['MainThread']", "", 0)
