import io
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import uploader
from encoder import Episode
from encoder.synthetic import synthetic_episode
from tests.uploader.cli.conftest import KEY, Command, start
from tests.uploader.delivery.support import lines, sealed
from tests.uploader.sinks.scripted import scripted_store
from tests.uploader.sinks.support import FOLDER, RUN, send
from tests.uploader.stores import CREDENTIALS, S3, running_s3, use_credentials
from uploader.cli.pull_progress import pull_progress
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.sinks.files import FileSink
from uploader.testing import fake_time


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    use_credentials(monkeypatch)


@pytest.fixture(scope="module")
def s3() -> Any:
    with running_s3() as server:
        yield server


def logged(tmp_path: Path, run_id: str, sinks: list[Any], *, traces: bool = False) -> list[bytes]:
    """Log a run to some sinks; the lines that it makes."""
    episodes = [synthetic_episode(seed, target_bytes=30_000) for seed in range(4)]
    for number, episode in enumerate(episodes):
        episode.id = f"{run_id}-{number}"
        for trace in episode.traces:
            trace.id = f"{run_id}-{number}-{trace.id}"
    with uploader.init(
        kind="eval", id=run_id, sinks=sinks, api_key=KEY, spool=tmp_path / "spool", lifecycle="local"
    ) as run:
        for episode in episodes:
            assert run.log_episodes([episode])
            assert run.flush()  # so that there are several batches
        if traces:
            assert run.log_traces([{**episodes[0].traces[0].to_record(), "id": f"{run_id}-alone"}])
    assert run.finish().is_complete
    return [episode.to_json() for episode in episodes]


def without_run(line: bytes) -> Any:
    record = json.loads(line)
    for each in (record, *record["traces"]):
        each.pop("run", None)
    return record


def test_a_run_comes_back_from_wherever_it_was_sent(
    command: Command, use_receiver: ReceiverProcess, s3: S3, tmp_path: Path
) -> None:
    store = s3.address(s3.new_bucket(), "a/b")
    made = logged(tmp_path, "Back/1", ["traces", store, tmp_path / "out"])
    pulled = []
    for number, place in enumerate((use_receiver.url, store, tmp_path / "out", (tmp_path / "out").as_uri())):
        ran = command("pull", place, "--run", "Back/1", "-o", tmp_path / f"{number}.jsonl")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.startswith("4 lines")
        pulled.append((tmp_path / f"{number}.jsonl").read_bytes())
    assert {tuple(sorted(content.splitlines())) for content in pulled} == {tuple(sorted(pulled[0].splitlines()))}
    records = [without_run(line) for line in pulled[0].splitlines()]
    assert sorted(map(str, records)) == sorted(str(without_run(line)) for line in made)
    assert {Episode.model_validate_json(line).run.id for line in pulled[1].splitlines()} == {"Back/1"}  # type: ignore[union-attr]


def test_a_kind_is_chosen_where_there_are_two(command: Command, use_receiver: ReceiverProcess, tmp_path: Path) -> None:
    logged(tmp_path, "two", ["traces", tmp_path / "out"], traces=True)
    for place in (use_receiver.url, tmp_path / "out"):
        ran = command("pull", place, "--run", "two", "-o", tmp_path / "file")
        assert (ran.code, ran.err) == (2, "uploader: the run has traces and episodes: choose with --line-format\n")
        assert not (tmp_path / "file").exists()
        for kind, number in (("trace", 1), ("episode", 4)):
            ran = command("pull", place, "--run", "two", "-o", tmp_path / kind, "--line-format", kind)
            assert ran.code == 0
            assert len((tmp_path / kind).read_bytes().splitlines()) == number
        assert json.loads((tmp_path / "trace").read_bytes())["id"] == "two-alone"


def test_standard_output_gets_lines_alone(command: Command, tmp_path: Path) -> None:
    send(FileSink(tmp_path), [sealed(lines(3)), sealed(lines(3))])
    ran = command("pull", tmp_path, "--run", RUN, "-o", "-")
    assert (ran.code, ran.out.encode()) == (0, b"".join(lines(3)))
    assert ran.err == "3 lines of 1 batch, 0.0 KB\n"


def test_a_damaged_batch_is_named_and_left_out(command: Command, tmp_path: Path) -> None:
    bad, good = sealed(lines(3)), sealed(lines(2, 50))
    send(FileSink(tmp_path), [bad, good, sealed(lines(5, 49))])
    path = tmp_path / FOLDER / "episode" / f"{bad.batch.digest}.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-5])
    ran = command("pull", tmp_path, "--run", RUN, "-o", tmp_path / "file")
    assert ran.code == 1
    assert f"{FOLDER}/episode/{path.name}: it cannot be unpacked: it is cut short" in ran.err
    assert "5 lines of 2 batches, 0.0 KB, 2 that came twice left out" in ran.err
    assert sorted((tmp_path / "file").read_bytes().splitlines(keepends=True)) == lines(5, 49)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["/nowhere", "--run", "x"], 2, "file:///nowhere holds nothing of a run x"),
        (["/nowhere", "--run", "x", "--line-format", "trace"], 2, "holds no traces of a run x"),
        (["ftp://host", "--run", "x"], 2, "ftp:// is no address"),
        (["s3://b?endpoint=http://127.0.0.1:1", "--run", "x"], 3, "HTTP error"),
        (["http://127.0.0.1:1", "--run", "x", "--api-key", "k"], 3, "attempts"),
        (["http://127.0.0.1:1", "--run", "x"], 2, "no API key"),
        (["http://me:secret@host", "--run", "x", "--api-key", "k"], 2, "URL: it must not hold a user or a password"),
    ],
)
def test_what_cannot_be_pulled(arguments: list[str], code: int, told: str, command: Command, tmp_path: Path) -> None:
    with fake_time():
        ran = command("pull", *arguments, "-o", tmp_path / "file")
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err
    assert list(tmp_path.iterdir()) == []


def test_refusals(command: Command, receiver: ReceiverProcess, tmp_path: Path) -> None:
    ran = command("pull", receiver.url, "--run", "x", "-o", tmp_path / "file", "--api-key", "another-key")
    assert (ran.code, "401" in ran.err, "another-key" in ran.err) == (1, True, False)
    ran = command("pull", receiver.url, "--run", "nobody's", "-o", tmp_path / "file", "--api-key", KEY)
    assert (ran.code, f"{receiver.url} holds nothing of a run nobody's" in ran.err) == (2, True)
    with scripted_store() as scripted:
        scripted.answers += [(403, "<Error><Code>AccessDenied</Code></Error>")] * 10
        ran = command("pull", scripted.address("s3"), "--run", "x", "-o", tmp_path / "file")
    assert (ran.code, "HTTP 403 AccessDenied" in ran.err) == (1, True)


def test_ctrl_c_waits_for_no_store_and_leaves_no_file(tmp_path: Path) -> None:
    with scripted_store() as scripted:
        scripted.answers += [None] * 10
        environment = {f"AWS_{name.upper()}": value for name, value in CREDENTIALS.items()}
        process = start("pull", scripted.address("s3"), "--run", "x", "-o", tmp_path / "file", **environment)
        assert scripted.arrived.wait(60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_shows_how_far_it_is() -> None:
    for of_bytes, shown in ((True, "2.0/2.0 kB"), (False, "2000/2000")):
        screen = io.StringIO()
        with pull_progress(Console(file=screen, force_terminal=True, width=78), 2000, of_bytes=of_bytes) as advance:
            for _ in range(2):
                advance(1000)
        assert shown in screen.getvalue()
    screen = io.StringIO()
    with pull_progress(Console(file=screen), 2000, of_bytes=True) as advance:
        advance(2000)
    assert screen.getvalue() == ""


def test_kinds_are_apart(command: Command, tmp_path: Path) -> None:
    send(FileSink(tmp_path), [sealed(lines(1))], LineFormat.TRACE)
    ran = command("pull", tmp_path, "--run", RUN, "-o", "-", "--line-format", "episode")
    assert (ran.code, ran.out) == (2, "")
    assert command("pull", tmp_path, "--run", RUN, "-o", "-").out.encode() == b"".join(lines(1))
