"""Runs from `uploader.init` to `finish`, against a receiver that knows them as the platform does."""

import asyncio
import multiprocessing
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import uploader
from encoder import Episode, EvalRunInfo, TrainRunInfo, TrainWorkInfo
from encoder.synthetic import synthetic_episode
from tests.end_to_end.service import oracle
from tests.faults.proxy import FaultProxy
from tests.uploader.faces import KEY
from uploader.errors import RunError
from uploader.receiver import ReceiverProcess

TIMEOUT_S = 60.0
PATHS = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
"""A program in another folder finds what these tests find."""


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiverProcess]:
    with ReceiverProcess(tmp_path_factory.mktemp("receiver"), KEY) as process:
        yield process


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PRIME_API_KEY", "PRIME_TRACES_URL", "PRIME_TEAM_ID", "PRIME_API_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def episodes(first: int, count: int) -> list[Episode[Any]]:
    return [synthetic_episode(seed, target_bytes=30_000) for seed in range(first, first + count)]


def init(url: str, spool: Path | None, **arguments: Any) -> uploader.Run:
    settings = {"api_key": KEY, "team_id": "team", "base_url": url, "spool": spool, "finish_timeout": TIMEOUT_S}
    return uploader.init(**{**settings, **arguments})


def stored(url: str, records: list[Episode[Any]]) -> list[bytes]:
    with uploader.TracesClient(KEY, url, "") as client:
        return [client.get_episode_raw(record.id) for record in records]


def ask(url: str, path: str) -> Any:
    return httpx.get(f"{url}/api/v1{path}", headers={"Authorization": f"Bearer {KEY}"}).raise_for_status().json()


def under(run: TrainRunInfo | EvalRunInfo, records: list[Episode[Any]]) -> list[bytes]:
    """What the records are under a run, in the slow and obvious way."""
    copies = [record.model_copy(deep=True) for record in records]
    for copy in copies:
        copy.record_run(run)
    return [oracle(copy) for copy in copies]


def test_a_training_run_that_the_platform_knows(receiver: ReceiverProcess, spool: Path) -> None:
    logged = episodes(0, 6)
    run = init(receiver.url, spool, kind="train", name="gsm8k", model="qwen3", environments=["synthetic"])
    for step in range(3):
        assert run.log_episodes(logged[2 * step : 2 * step + 2], step=step)
        assert run.log_metrics({"loss": 1 / (step + 1)}, step=step)
    report = run.finish({"best": 0.5})
    assert report.is_complete, report
    assert (report.counts.stored, report.resume_command) == (6, None)
    for step in range(3):
        pair = logged[2 * step : 2 * step + 2]
        assert stored(receiver.url, pair) == under(TrainRunInfo(id=run.id, work=TrainWorkInfo(step=step)), pair)
    known = ask(receiver.url, f"/rft/external-runs/{run.id}")
    assert (known["name"], known["status"], known["base_model"]) == ("gsm8k", "completed", "qwen3")
    *rows, summary = known["metrics"]
    assert [(row["step"], row["loss"]) for row in rows] == [(0, 1), (1, 1 / 2), (2, 1 / 3)]
    assert summary["summary/best"] == 0.5
    assert ask(receiver.url, f"/runs/{run.id}/steps")["step_count"] == 3
    assert not [path for path in spool.rglob("*") if path.is_file()]


def test_an_evaluation_that_fails(receiver: ReceiverProcess, spool: Path) -> None:
    logged = episodes(10, 2)
    run = init(receiver.url, spool, kind="eval", tags=["nightly"])

    def work() -> None:
        with run:
            run.log_episodes(logged)
            run.log_metrics({"accuracy": 0.5})
            run.update_summary({"n": 2})
            raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        work()
    assert run.url is not None
    known = ask(receiver.url, f"/evaluations/{run.id}")
    assert run.url == f"{receiver.url}/api/v1/evaluations/{run.id}"
    assert (known["status"], known["error_message"]) == ("failed", "ValueError: no luck")
    assert known["metrics"] == {"accuracy": 0.5, "n": 2}
    assert stored(receiver.url, logged) == under(EvalRunInfo(id=run.id), logged)


async def test_from_an_event_loop(receiver: ReceiverProcess, spool: Path) -> None:
    logged = episodes(20, 3)
    async with init(receiver.url, spool, kind="eval", lifecycle="local") as run:
        assert run.log_episodes(logged[:1])
        assert run.log_traces(logged[1].traces)
        assert await run.aflush(TIMEOUT_S)
    report = await run.afinish()
    assert report.is_complete, report
    traces = [synthetic.model_copy(update={"run": EvalRunInfo(id=run.id)}) for synthetic in logged[1].traces]
    async with uploader.AsyncTracesClient(KEY, receiver.url, "") as client:
        assert [await client.get_raw(trace.id) for trace in traces] == [oracle(trace) for trace in traces]


def test_what_an_offline_run_kept_is_sent_by_the_next_one(receiver: ReceiverProcess, spool: Path) -> None:
    logged = episodes(30, 4)
    offline = init(receiver.url, spool, kind="eval", mode="offline", id="offline")
    offline.log_episodes(logged)
    report = offline.finish()
    assert (report.counts.spooled, report.counts.stored, report.counts.dropped) == (4, 0, 0)
    assert report.resume_command == f"uploader spool resume --spool {spool} --url {receiver.url} --team-id team"
    assert list(spool.rglob("*.jsonl.gz"))

    online = init(receiver.url, spool, kind="eval", lifecycle="local", id="online")
    online.log_episodes(episodes(40, 1))
    wait_for(lambda: online.stats.counts.earlier.stored == 4)
    report = online.finish()
    assert (report.counts.submitted, report.counts.stored) == (1, 1)
    assert stored(receiver.url, logged) == under(EvalRunInfo(id="offline"), logged)
    assert not list(spool.rglob("*.jsonl.gz"))


def test_the_command_that_a_report_names(
    receiver: ReceiverProcess, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = episodes(35, 3)
    with init(receiver.url, spool, kind="eval", mode="offline", id="resumed") as run:
        run.log_episodes(logged)
    command = run.finish().resume_command
    assert command is not None
    monkeypatch.setenv("PRIME_API_KEY", KEY)
    arguments = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert stored(receiver.url, logged) == under(EvalRunInfo(id="resumed"), logged)
    assert not list(spool.rglob("*.jsonl.gz"))


@pytest.mark.parametrize("kind", ["train", "eval"])
def test_what_the_platform_did_not_hear_of_a_run_is_told_by_the_same_command(
    kind: Any, receiver: ReceiverProcess, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = episodes(200, 2) if kind == "train" else episodes(202, 2)
    with FaultProxy(receiver.url) as proxy:
        run = init(proxy.url, spool, kind=kind, model="m", environments=["synthetic"])
        assert not run.is_local
        proxy.refuse()
        proxy.cut()
        assert run.log_episodes(logged, step=0 if kind == "train" else None)
        assert run.flush(TIMEOUT_S)
        assert run.log_metrics({"loss": 1.5}, step=0)
        report = run.finish({"best": 2}, timeout=0.5)
        assert (report.counts.spooled, report.problem is None) == (2, False), report
        assert report.kept_metrics == (2 if kind == "train" else 1)  # the summary, too
        assert report.resume_command is not None
        wait_for(lambda: not {"uploader-metrics", "uploader-run-close"} & {each.name for each in threading.enumerate()})
        proxy.accept()
        monkeypatch.setenv("PRIME_API_KEY", KEY)
        arguments = [sys.executable, "-m", *shlex.split(report.resume_command)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert ("2 rows" if kind == "train" else "1 row") + " of metrics and its end" in " ".join(done.stdout.split())
    if kind == "train":
        known = ask(receiver.url, f"/rft/external-runs/{run.id}")
        loss, summary = known["metrics"]
        assert (known["status"], loss["loss"], summary["summary/best"]) == ("completed", 1.5, 2)
    else:
        known = ask(receiver.url, f"/evaluations/{run.id}")
        assert (known["status"], known["metrics"]) == ("completed", {"loss": 1.5, "best": 2})
    assert len(stored(receiver.url, logged)) == 2
    assert not [path for path in spool.rglob("*") if path.is_file()]


def wait_for(condition: Any) -> None:
    pause = threading.Event()
    while not condition():  # the suite's own time-out ends it
        pause.wait(0.01)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_service_that_was_down_for_the_whole_run(spool: Path, tmp_path: Path) -> None:
    port = free_port()
    url, logged = f"http://127.0.0.1:{port}", episodes(50, 3)
    run = init(url, spool, kind="eval")
    assert run.is_local
    run.log_episodes(logged)
    report = run.finish(timeout=0.5)
    assert (report.counts.spooled, report.counts.dropped) == (3, 0), report
    assert report.resume_command is not None
    with ReceiverProcess(tmp_path / "data", KEY, port=port):
        later = init(url, spool, kind="eval", lifecycle="local")
        later.log_episodes(episodes(60, 1))
        wait_for(lambda: later.stats.counts.earlier.stored == 3)
        later.finish()
        assert stored(url, logged) == under(EvalRunInfo(id=run.id), logged)


@pytest.fixture
def silent() -> Iterator[str]:
    """A service that accepts and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_service_that_accepts_and_never_answers(silent: str, spool: Path) -> None:
    run = init(silent, spool, kind="eval", lifecycle="local")
    run.log_episodes(episodes(70, 3))
    report = run.finish(timeout=0.5)
    assert (report.counts.spooled, report.counts.dropped) == (3, 0), report


@pytest.mark.parametrize("on_error", ["warn", "raise"])
def test_a_key_that_is_refused(
    on_error: Any, receiver: ReceiverProcess, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = init(receiver.url, spool, kind="eval", lifecycle="local", api_key="wrong-key", on_error=on_error)
    run.log_episodes(episodes(75, 2))
    if on_error == "raise":
        with pytest.raises(RunError, match=r"the sink traces is stopped: .*HTTP 401"):
            run.finish()
    report = run.finish()
    assert (report.counts.spooled, report.counts.stored, report.counts.dropped) == (2, 0, 0), report
    assert "the sink traces is stopped" in str(report)
    assert "wrong-key" not in caplog.text


def test_without_a_disk_what_is_not_sent_is_dropped_and_said(silent: str) -> None:
    run = init(silent, None, kind="eval", lifecycle="local")
    run.log_episodes(episodes(80, 2))
    report = run.finish(timeout=0.3)
    assert (report.counts.dropped, report.counts.spooled) == (2, 0), report
    assert "2 dropped" in str(report)


class Broken:
    def iter_json(self) -> Iterator[bytes]:
        yield b'{"id":'
        raise ValueError("half a record")


def test_without_a_disk_what_is_set_aside_is_in_the_report(receiver: ReceiverProcess) -> None:
    good = episodes(84, 2)
    bad = good[0].model_copy(update={"id": "x" * 300})
    run = init(receiver.url, None, kind="eval", lifecycle="local")
    run.log_episodes([good[0], Broken(), bad, good[1]])
    report = run.finish()
    assert (report.counts.stored, report.counts.rejected) == (2, 2), report
    broken, refused = sorted(report.set_aside, key=lambda each: len(each.content))
    assert broken.content == b'{"id":'
    assert "half a record" in broken.reason
    assert [refused.content.rstrip(b"\n")] == under(EvalRunInfo(id=run.id), [bad])
    assert "episode_id_too_long" in refused.reason
    assert (broken.num_records, refused.num_records) == (1, 1)


PREAMBLE = """
import logging, os, signal, sys, threading
logging.basicConfig(level="WARNING")
import uploader
from encoder.synthetic import synthetic_episode
url, spool = sys.argv[1:3]
run = uploader.init(
    kind="eval", id="run", api_key="k", lifecycle="local", spool=spool, base_url=url, finish_timeout=TIMEOUT
)
run.log_episodes([synthetic_episode(seed, target_bytes=30_000) for seed in range(3)])
"""
INTERRUPT = """
def interrupt():
    while not run._finishing.locked() or run.stats.counts.in_flight == 0:
        pause.wait(0.01)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

pause = threading.Event()
assert run.flush(60)
threading.Thread(target=interrupt, daemon=True).start()
run.finish()
"""
TERMINATE = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
with run:
    assert run.flush(60)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(60)
"""


def script(text: str, url: str, spool: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    code = PREAMBLE.replace("TIMEOUT", str(timeout)) + text
    return subprocess.run([sys.executable, "-c", code, url, str(spool)], capture_output=True, text=True, check=False)


def test_the_interpreter_exits_though_nobody_finished_and_nobody_answers(silent: str, spool: Path) -> None:
    done = script("", silent, spool, 0.5)
    assert done.returncode == 0, done.stderr
    assert "Run run was not finished before the interpreter's exit" in done.stderr
    assert "0 of 3 records stored, 3 on disk" in done.stderr
    assert f"uploader spool resume --spool {spool}" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are sent another way")
def test_ctrl_c_inside_of_finish(silent: str, spool: Path) -> None:
    done = script(INTERRUPT, silent, spool, 100_000)
    assert done.returncode == -signal.SIGINT, done.stderr
    assert "0 of 3 records stored, 3 on disk" in done.stderr
    assert "KeyboardInterrupt" in done.stderr
    assert "not finished before" not in done.stderr


HANG = """
import uploader.worker.closing
uploader.worker.closing._SEAL_GRACE_S = 100_000  # for as long as it takes until the second one comes

class Hanging:
    def iter_json(self):
        threading.Event().wait()

def say(what, is_so):
    while not is_so():
        pause.wait(0.01)
    print(what, flush=True)

def watch():
    say("finishes", lambda: run._parts.worker._current_closing is not None)
    say("was interrupted", lambda: run._parts.worker._current_closing._interrupt is not None)

pause = threading.Event()
assert run.flush(60)
run.log_episodes([Hanging()])
threading.Thread(target=watch, daemon=True).start()
run.finish()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent another way")
def test_a_second_ctrl_c_inside_of_finish_leaves_at_once(silent: str, spool: Path) -> None:
    code = PREAMBLE.replace("TIMEOUT", "100_000") + HANG
    command = [sys.executable, "-c", code, silent, str(spool)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for said in ("finishes\n", "was interrupted\n"):
            assert child.stdout.readline() == said
            child.send_signal(signal.SIGINT)
        _, errors = child.communicate()  # the suite's own time-out ends it
    assert child.returncode == -signal.SIGINT, errors
    assert "0 of 4 records stored, 3 on disk" in errors
    assert f"uploader spool resume --spool {spool}" in errors
    assert "KeyboardInterrupt" in errors
    assert list(spool.rglob("*.jsonl.gz"))


@pytest.mark.skipif(os.name != "posix", reason="signals are sent another way")
def test_the_two_lines_for_sigterm(silent: str, spool: Path) -> None:
    done = script(TERMINATE, silent, spool, 0.5)
    assert done.returncode == 143, done.stderr
    assert "run run failed: 0 of 3 records stored, 3 on disk" in done.stderr


FORK = """
logged = [synthetic_episode(seed, target_bytes=30_000) for seed in range(3, 5)]
pid = os.fork()
run.log_episodes(logged[:1] if pid else logged[1:])
report = run.finish()
assert report.is_complete, report
assert report.counts.submitted == (4 if pid else 1), report
if pid:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_logs_for_itself(tmp_path: Path, spool: Path) -> None:
    with ReceiverProcess(tmp_path / "data") as receiver:
        done = script(FORK, receiver.url, spool, TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        with uploader.TracesClient("k", receiver.url, "") as client:
            assert client.get_run("run").episode_count == 5


CHILDREN = """
import multiprocessing, sys
import uploader
from encoder.synthetic import synthetic_episode

def open_run(run_id):
    url, spool = sys.argv[1:3]
    return uploader.init(kind="eval", id=run_id, api_key="k", lifecycle="local", spool=spool, base_url=url)

def log(run, seeds):
    assert run.log_episodes([synthetic_episode(seed, target_bytes=30_000) for seed in seeds])

def inherit(seed):
    log(parents_run, [seed])

def own(seed, url, spool):
    sys.argv[1:] = url, spool
    log(open_run("child"), [seed])

if __name__ == "__main__":
    method = sys.argv[3]
    context = multiprocessing.get_context(method)
    parents_run = open_run("run")
    log(parents_run, range(3))
    if method == "fork":
        children = [context.Process(target=inherit, args=(seed,)) for seed in (3, 4)]
    else:
        children = [context.Process(target=own, args=(seed, *sys.argv[1:3])) for seed in (3, 4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    log(parents_run, [5])
    report = parents_run.finish()
    assert report.is_complete, report
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_that_finish_nothing_lose_nothing(method: str, tmp_path: Path, spool: Path) -> None:
    """They leave by `os._exit`, without the hooks of `atexit`."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    program = tmp_path / "program.py"
    program.write_text(CHILDREN)
    with ReceiverProcess(tmp_path / "data") as receiver:
        command = [sys.executable, str(program), receiver.url, str(spool), method]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **PATHS})
        assert done.returncode == 0, done.stderr
        with uploader.TracesClient("k", receiver.url, "") as client:
            assert client.get_run("run").episode_count == (6 if method == "fork" else 4)
            assert method == "fork" or client.get_run("child").episode_count == 2


def test_two_processes_log_to_one_run(tmp_path: Path, spool: Path) -> None:
    code = PREAMBLE.replace("TIMEOUT", str(TIMEOUT_S)).replace("range(3)", "range(*map(int, sys.argv[3:]))")
    code += "assert run.finish().is_complete"
    with ReceiverProcess(tmp_path / "data") as receiver:
        processes = [
            subprocess.Popen([sys.executable, "-c", code, receiver.url, str(spool), str(first), str(first + 3)])
            for first in (0, 3)
        ]
        assert [process.wait() for process in processes] == [0, 0]
        with uploader.TracesClient("k", receiver.url, "") as client:
            assert client.get_run("run").episode_count == 6


def test_under_uvloop(receiver: ReceiverProcess, spool: Path) -> None:
    uvloop = pytest.importorskip("uvloop")
    logged = episodes(90, 2)

    async def work() -> Any:
        async with init(receiver.url, spool, kind="eval", lifecycle="local") as run:
            run.log_episodes(logged)
        return await run.afinish()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(work()).is_complete
