"""What a run does with what it is told, and how it ends."""

import asyncio
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

import uploader
from encoder import Episode, TrainRunInfo, from_messages
from tests.uploader.runs.support import FakeWorker, notes_of, rows_of
from tests.uploader.runs.test_start import EVALUATION, KEY, TRAINING
from uploader.errors import ConfigurationError, RunError, RunFinishedError
from uploader.runs import exits
from uploader.runs.endings import Ending, Status
from uploader.testing import ScriptedTransport, refusal


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def init(spool: Path, **arguments: Any) -> uploader.Run:
    return uploader.init(**{"api_key": KEY, "id": "run", "spool": spool, **arguments})


def on_platform(spool: Path, script: list[Any], **arguments: Any) -> tuple[uploader.Run, ScriptedTransport]:
    kind = arguments.setdefault("kind", "train")
    opening = TRAINING if kind == "train" else EVALUATION
    transport = ScriptedTransport([opening, *script])
    run = init(spool, id=None, model="m", team_id="team", base_url="http://p", transport=transport, **arguments)
    return run, transport


def requests(transport: ScriptedTransport) -> list[tuple[str, str, Any]]:
    """What was asked after the opening."""
    return [
        (each.method, each.url.path.removeprefix("/api/v1"), orjson.loads(each.body)) for each in transport.requests[1:]
    ]


def episode() -> Episode[Any]:
    return from_messages([{"role": "user", "content": "6 * 7?"}, {"role": "assistant", "content": "42"}])


def test_episodes_and_traces_get_the_identity_where_they_are_encoded(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    logged = episode()
    assert run.log_episodes([logged], step=3)
    assert run.log_traces(trace for trace in logged.traces)
    (episodes, first), (traces, second) = worker.submitted
    assert (first, second) == ("episode", "trace")
    assert isinstance(episodes[0].run, TrainRunInfo)
    assert (episodes[0].run.id, episodes[0].run.work.step) == ("run", 3)
    assert (traces[0].run.id, traces[0].run.work.step) == ("run", 0)
    assert logged.run is None
    assert logged.traces[0].run is None


def test_what_does_not_fit_is_said(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    worker.accepts = False
    assert not run.log_episodes([episode()])
    assert run.log_episodes([])


@pytest.mark.parametrize("records", [episode(), {"id": "e"}, b"{}", 5, None])
def test_what_is_no_list_of_records(records: Any, worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    for log in (run.log_episodes, run.log_traces):
        with pytest.raises(ConfigurationError):
            log(records)
    assert worker.submitted == []


@pytest.mark.parametrize("step", [-1, 1.5, True, "1"])
def test_what_is_no_step(step: Any, worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    log: Any
    for log in (run.log_episodes, run.log_traces, run.log_metrics):
        with pytest.raises(ConfigurationError, match="step"):
            log({} if log == run.log_metrics else [], step=step)


def test_records_that_evaluate_the_model_in_training(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    logged = episode()
    assert run.log_episodes([logged], step=3, work="eval")
    assert run.log_traces(logged.traces, step=4, work="eval")
    works = [records[0].run.work for records, _ in worker.submitted]
    assert [(work.type, work.step) for work in works] == [("eval", 3), ("eval", 4)]
    with pytest.raises(ConfigurationError, match="work: it must be 'train' or 'eval', not 'test'"):
        run.log_episodes([], work="test")  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [None, [1], "loss"])
def test_what_is_no_mapping(values: Any, worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    with pytest.raises(ConfigurationError, match="values"):
        run.log_metrics(values)
    with pytest.raises(ConfigurationError, match="values"):
        run.update_summary(values)
    if values is not None:
        with pytest.raises(ConfigurationError, match="summary"):
            run.finish(values)
    assert run.status == "running"


def test_metrics_of_a_local_run_are_on_disk(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    run.log_metrics({"loss": 0.5, "bad": float("nan")}, step=1)
    run.log_metrics({"loss": 0.25})
    assert run.flush(10)
    run.update_summary({"best": 0.25})
    report = run.finish({"last": 0.25}, timeout=10)
    first, second, summary = rows_of(spool, "run")
    assert first == {"loss": 0.5, "step": 1, "_timestamp": first["_timestamp"]}
    assert set(second) == {"loss", "_timestamp"}
    assert summary == {"summary": {"best": 0.25, "last": 0.25}, "status": "completed"}
    assert run.summary == {"best": 0.25, "last": 0.25}
    assert report.metrics_path == spool / "run" / "metrics.jsonl"
    assert (report.lost_metrics, report.kept_metrics, report.problem) == (0, 0, None)


def test_a_training_run_on_the_platform(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [200, 200])
    run.log_metrics({"loss": 0.5, "_timestamp": 1}, step=1)
    report = run.finish(timeout=10)
    assert requests(transport) == [
        ("POST", "/rft/metrics", {"run_id": "r1", "metrics": {"loss": 0.5, "step": 1, "_timestamp": 1}}),
        ("POST", "/rft/finalize", {"run_id": "r1", "exit_code": 0}),
    ]
    assert report.is_complete
    assert rows_of(spool, "r1") == []


def test_an_evaluation_on_the_platform(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [200, 200, 200], kind="eval")
    run.log_metrics({"a": 1}, step=1)
    run.log_metrics({"a": 2, "b": 1}, step=2)
    run.finish({"b": 3}, timeout=10)
    assert requests(transport) == [
        ("PUT", "/evaluations/e1", {"metrics": {"a": 1}}),
        ("PUT", "/evaluations/e1", {"metrics": {"a": 2, "b": 1}}),
        ("POST", "/evaluations/e1/finalize", {"metrics": {"a": 2, "b": 3}}),
    ]


def test_a_failed_run(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [200])
    report = run.fail(ValueError("no luck"), timeout=10)
    body = {"status": "failed", "error_message": "ValueError: no luck"}
    assert requests(transport) == [("PUT", "/rft/external-runs/r1/status", body)]
    assert (run.status, report.status) == ("failed", "failed")


def test_metrics_that_the_platform_refuses_are_on_disk(
    worker: FakeWorker, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run, transport = on_platform(spool, [refusal(400, "invalid")] * 2 + [200])
    run.log_metrics({"a": 1})
    run.log_metrics({"a": 2})
    assert run.flush(10)
    report = run.finish(timeout=10)
    assert [row["a"] for row in rows_of(spool, "r1")] == [1, 2]
    assert report.metrics_path == spool / "r1" / "metrics.jsonl"
    assert (report.kept_metrics, notes_of(spool, "r1")) == (0, [])
    assert len(requests(transport)) == 3
    assert "a row of metrics was refused" in caplog.text


def test_metrics_for_which_the_key_is_refused_wait_for_another_one(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [refusal(403, "forbidden")] * 2)
    run.log_metrics({"a": 1})
    run.log_metrics({"a": 2})
    assert run.flush(10)
    report = run.finish({"b": 3}, timeout=10)
    first, second, summary, end = notes_of(spool, "r1")
    assert (summary.metrics or {})["summary/b"] == 3
    assert [first.metrics and first.metrics["a"], second.metrics and second.metrics["a"]] == [1, 2]
    assert (end.url, end.team, end.kind, end.run_id) == ("http://p", "team", "train", "r1")
    assert end.ending == Ending(Status.COMPLETED, {"b": 3})
    assert (report.kept_metrics, report.metrics_path, rows_of(spool, "r1")) == (3, None, [])
    assert report.resume_command == f"uploader spool resume --spool {spool} --url http://p --team-id team"
    assert len(requests(transport)) == 2


def test_metrics_that_cannot_be_sent_in_time_are_on_disk(worker: FakeWorker, spool: Path) -> None:
    run, _ = on_platform(spool, [refusal(503, "busy", headers={"Retry-After": "60"})] * 9)
    run.log_metrics({"a": 1})
    run.log_metrics({"a": 2})
    report = run.finish(timeout=0)
    *rows, end = notes_of(spool, "r1")
    assert [row.metrics and row.metrics["a"] for row in rows] == [1, 2]
    assert end.ending == Ending(Status.COMPLETED)
    assert report.kept_metrics == 2
    assert "2 rows of metrics on disk" in str(report)
    assert str(report.resume_command) in str(report)


def test_an_evaluation_s_metrics_wait_as_they_would_be_told(worker: FakeWorker, spool: Path) -> None:
    run, _ = on_platform(spool, [refusal(503, "busy", headers={"Retry-After": "60"})] * 9, kind="eval")
    run.log_metrics({"a": 1, "b": 1}, step=3)
    run.log_metrics({"a": 2})
    run.fail("no luck", timeout=0)
    first, second, end = notes_of(spool, "e1")
    assert (first.metrics, second.metrics) == ({"a": 1, "b": 1}, {"a": 2, "b": 1})
    assert end.ending == Ending(Status.FAILED, {"a": 2, "b": 1}, "no luck")


def test_without_a_disk_they_are_lost_and_counted(worker: FakeWorker) -> None:
    run, _ = on_platform(None, [refusal(503, "busy", headers={"Retry-After": "60"})] * 9)  # type: ignore[arg-type]
    run.log_metrics({"a": 1})
    report = run.finish(timeout=0)
    assert (report.lost_metrics, report.metrics_path) == (1, None)
    assert "1 rows of metrics lost" in str(report)


def test_a_run_that_cannot_be_closed_says_so(worker: FakeWorker, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    run, _ = on_platform(spool, [refusal(403, "forbidden", "not yours")])
    report = run.finish(timeout=10)
    assert report.problem is not None
    assert "it could not be closed: not yours (HTTP 403, forbidden)" in str(report)
    assert str(report) in caplog.text


def test_a_platform_that_answers_nothing_is_not_waited_for(worker: FakeWorker, spool: Path) -> None:
    never = threading.Event()
    run, _ = on_platform(spool, [lambda request: never.wait(60) and 200])
    report = run.finish(timeout=0.05)
    assert report.problem == "the platform did not answer in time"
    assert worker.closings == [0.04]
    never.set()


def test_the_report_says_what_is_where(worker: FakeWorker, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = init(spool)
    worker.count(
        submitted=10,
        stored=4,
        spooled=2,
        in_flight=1,
        dropped=2,
        rejected=1,
        dropped_reasons={"no time": 2},
        rejected_reasons={"too long": 1},
    )
    report = run.finish(timeout=10)
    command = f"uploader spool resume --spool {spool}"
    assert report.resume_command == command
    assert not report.is_complete
    assert str(report) == (
        "run run completed: 4 of 10 records stored, 3 on disk, 2 dropped (no time), 1 set aside (too long). "
        f"What is on disk is sent by: {command}"
    )
    assert str(report) in caplog.text


def test_the_command_is_one_for_a_shell(worker: FakeWorker, tmp_path: Path) -> None:
    run = init(tmp_path / "my spool", lifecycle="local", base_url="http://h:1/api/v1")
    worker.count(submitted=1, spooled=1)
    command = f"uploader spool resume --spool '{tmp_path / 'my spool'}' --url http://h:1"
    assert run.finish(timeout=10).resume_command == command


def test_a_complete_run_warns_of_nothing(worker: FakeWorker, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = init(spool)
    worker.count(submitted=2, stored=2)
    with caplog.at_level(logging.INFO, "uploader"):
        report = run.finish(timeout=10)
    assert report.is_complete
    assert [record.levelname for record in caplog.records if str(report) in record.message] == ["INFO"]


def test_finishing_again_gives_the_same_report(worker: FakeWorker, spool: Path) -> None:
    run, transport = on_platform(spool, [200])
    first = run.finish(timeout=10)
    assert run.finish(status="failed", timeout=10) is first
    assert run.fail("late") is first
    assert run.status == "completed"
    assert len(requests(transport)) == 1


def test_finishing_from_two_threads_at_once(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    inside, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        inside.set()
        go_on.wait(10)

    worker.on_close = slow
    reports: list[Any] = []
    threads = [threading.Thread(target=lambda: reports.append(run.finish(timeout=10))) for _ in range(2)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert reports[0] is reports[1]
    assert worker.closings == [10.0]


@pytest.mark.parametrize("status", ["running", "done", None, 5])
def test_what_is_no_end(status: Any, worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    with pytest.raises(ConfigurationError, match="status"):
        run.finish(status=status)
    with pytest.raises(ConfigurationError, match="timeout"):
        run.finish(timeout=-1)
    assert run.status == "running"


def test_a_run_that_has_ended_takes_nothing(worker: FakeWorker, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = init(spool)
    run.finish(timeout=10)
    assert not run.log_episodes([episode()])
    assert not run.log_metrics({"a": 1})
    run.update_summary({"a": 1})
    assert (worker.submitted, run.summary) == ([], {})
    assert caplog.text.count("has ended, and takes no") == 1


def test_or_raises(worker: FakeWorker, spool: Path) -> None:
    run = init(spool, on_error="raise")
    run.finish(timeout=10)
    for log in (lambda: run.log_episodes([episode()]), lambda: run.log_metrics({}), lambda: run.update_summary({})):
        with pytest.raises(RunFinishedError):
            log()


def test_losses_are_raised_where_that_was_asked_for(worker: FakeWorker, spool: Path) -> None:
    run = init(spool, on_error="raise")
    assert run.flush(1)
    worker.count(submitted=3, dropped=1, rejected=1, stored=1, dropped_reasons={"no room": 1})
    with pytest.raises(RunError, match=r"1 dropped .*, 1 set aside"):
        run.flush(1)
    with pytest.raises(RunError, match="1 dropped"):
        run.finish(timeout=10)
    assert worker.closings == [10.0]
    assert run.status == "completed"


def test_flush_shares_its_time(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    assert run.flush()
    assert run.flush(None)
    worker.is_safe = False
    assert not run.flush(5)
    assert worker.flushes == [30.0, None, 5.0]
    with pytest.raises(ConfigurationError, match="timeout"):
        run.flush(-1)


ENDS: list[tuple[BaseException | None, str, str | None]] = [
    (None, "completed", None),
    (SystemExit(0), "completed", None),
    (SystemExit(3), "failed", "SystemExit: 3"),
    (ValueError("bad"), "failed", "ValueError: bad"),
    (ValueError(), "failed", "ValueError"),
    (KeyboardInterrupt(), "cancelled", "cancelled: interrupted"),
]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("error", "status", "reason"), ENDS)
def test_a_block_ends_its_run(
    error: BaseException | None, status: str, reason: str | None, is_async: bool, worker: FakeWorker, spool: Path
) -> None:
    run, transport = on_platform(spool, [200], finish_timeout=10)

    def work() -> None:
        if error is not None:
            raise error

    async def ablock() -> None:
        async with run as entered:
            assert entered is run
            work()

    def block() -> None:
        if is_async:
            asyncio.run(ablock())
        else:
            with run as entered:
                assert entered is run
                work()

    if error is None:
        block()
    else:
        with pytest.raises(type(error)):
            block()
    assert run.status == status
    ((_, _, body),) = requests(transport)
    assert body.get("error_message") == reason


def test_a_loss_does_not_hide_what_ended_the_block(worker: FakeWorker, spool: Path) -> None:
    run = init(spool, on_error="raise")
    worker.count(submitted=1, dropped=1)
    with pytest.raises(ValueError, match="mine"), run:
        raise ValueError("mine")
    with pytest.raises(RunError), init(spool, on_error="raise"):
        pass


def test_ctrl_c_while_finishing(worker: FakeWorker, spool: Path) -> None:
    """The worker has sealed and kept what there was when it raises."""
    run, transport = on_platform(spool, [])
    worker.count(submitted=2, spooled=2)

    def interrupted() -> None:
        raise KeyboardInterrupt

    worker.on_close = interrupted
    with pytest.raises(KeyboardInterrupt):
        run.finish(timeout=10)
    assert worker.closings == [8.0, 0.0]
    assert requests(transport) == []
    report = run.finish()
    assert report.problem == "interrupted"
    assert [note.ending for note in notes_of(spool, "r1")] == [Ending(Status.COMPLETED)]
    assert report.resume_command == f"uploader spool resume --spool {spool} --url http://p --team-id team"


def test_finishing_inside_of_finishing(worker: FakeWorker, spool: Path) -> None:
    """A signal handler may do that: there is nobody who could be waited for."""
    run = init(spool)
    worker.on_close = lambda: inner.append(run.finish(timeout=10_000))
    inner: list[Any] = []
    outer = run.finish(timeout=10)
    assert worker.hurried.is_set()
    assert inner[0].run_id == outer.run_id


async def test_the_awaitable_twins(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    threads: list[Any] = []
    worker.on_close = lambda: threads.append(threading.current_thread())
    run.log_metrics({"a": 1})
    assert await run.aflush(10)
    report = await run.afinish({"a": 1}, status="cancelled", timeout=10)
    assert (report.status, run.summary) == ("cancelled", {"a": 1})
    assert threads[0].daemon
    assert threads[0] is not threading.current_thread()


async def test_an_awaitable_failure(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    report = await run.afail(ValueError("broken"), timeout=10)
    assert report is run.finish()
    assert (run.status, worker.closings) == ("failed", [10])


async def test_a_cancellation_hurries(worker: FakeWorker, spool: Path) -> None:
    run = init(spool)
    worker.on_close = lambda: worker.hurried.wait(10)  # type: ignore[assignment]
    finishing = asyncio.ensure_future(run.afinish(timeout=600))
    await asyncio.sleep(0.01)
    finishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await finishing
    assert run._finished.is_set()


def test_a_disabled_run_takes_everything_and_keeps_nothing(spool: Path, tmp_path: Path) -> None:
    run = uploader.init(kind="eval", mode="disabled", spool=spool)
    assert run.log_episodes([episode()])
    assert run.log_metrics({"a": 1})
    run.update_summary({"a": 1})
    assert run.flush(10)
    report = run.finish(timeout=10)
    assert (report.is_complete, report.counts.submitted) == (True, 0)
    assert not spool.exists()
    assert run not in exits._open.values()


def test_only_runs_that_nobody_finished_are_closed_at_exit(worker: FakeWorker, spool: Path) -> None:
    finished, open_run = init(spool), init(spool)
    finished.finish(timeout=10)
    assert list(exits._open.values()) == [open_run]


@pytest.fixture
def child() -> Callable[[Any], None]:
    """Runs a function in a forked child; what it returns must be true."""

    def run(function: Any) -> None:
        pid = os.fork()
        if not pid:  # pragma: no cover - in the child
            try:
                os._exit(0 if function() else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    return run


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking with threads, which is what is tested
def test_a_forked_child_logs_but_leaves_closing_to_its_parent(worker: FakeWorker, spool: Path, child: Any) -> None:
    run, transport = on_platform(spool, [200, 200])
    run._finishing.acquire()  # as if another thread were just finishing it

    def in_child() -> bool:
        run.log_metrics({"from": "child"})
        report = run.finish(timeout=10)
        return [path for _, path, _ in requests(transport)] == ["/rft/metrics"] and report.problem is None

    child(in_child)
    assert requests(transport) == []


def test_a_child_that_leaves_is_no_failure(worker: FakeWorker, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = init(spool)
    run._parts.metrics.close(0)  # no thread comes along
    run.after_fork()
    run.update_summary({"a": 1})
    run.finish_at_exit()
    assert (run.status, caplog.text, rows_of(spool, "run")) == ("completed", "", [])


SCRIPT = """
import logging, sys
logging.basicConfig(level="WARNING")
import uploader
run = uploader.init(kind="eval", id="run", api_key="k", lifecycle="local", spool=sys.argv[1], base_url="http://127.0.0.1:9")
run.log_metrics({"a": 1})
run.update_summary({"s": 1})
if sys.argv[2] == "raise":
    raise ValueError("mine")
"""


@pytest.mark.parametrize("how", ["end", "raise"])
def test_a_run_that_nobody_finished(how: str, spool: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(spool), how], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if how == "raise" else 0), done.stderr
    assert "Run run was not finished before the interpreter's exit; it is closed as failed" in done.stderr
    first, last = rows_of(spool, "run")
    assert first["a"] == 1
    assert last == {"summary": {"s": 1}, "status": "failed"}
