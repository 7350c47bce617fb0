"""The receiver as a process: its first line, its end, and what a kill leaves behind."""

import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.uploader.receiver.support import dumps, episode, jsonl, key_of, post, trace
from uploader.receiver import API_KEY_VARIABLE, ReceiverProcess, ReceiverStartError


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_first_line_is_the_url_and_signals_end_it(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "uploader.receiver", "--data-dir", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=url) as client:
            assert client.get("/healthz").json()["status"] == "ok"
            process.send_signal(number)
            rest, log = process.communicate(timeout=30)
    assert (process.returncode, rest) == (0, "")
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("arguments", "environment"), [(["--api-key", ""], {}), ([], {API_KEY_VARIABLE: ""}), (["--api-key", "k "], {})]
)
def test_a_key_that_cannot_be_used_is_an_error_of_usage(
    tmp_path: Path, arguments: list[str], environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "uploader.receiver", "--data-dir", str(tmp_path / "data"), "--port", "0"]
    ran = subprocess.run(
        [*command, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"--api-key or {API_KEY_VARIABLE}: it " in ran.stderr
    assert not (tmp_path / "data").exists()


def test_a_process_of_a_receiver_does_not_inherit_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, "inherited")
    with ReceiverProcess(tmp_path) as receiver:
        assert httpx.get(f"{receiver.url}/api/v1/traces").status_code == 200


@pytest.mark.parametrize(
    ("host", "key", "warns"), [("0.0.0.0", None, True), ("0.0.0.0", "k", False), ("::1", None, False)]
)
def test_everybody_on_the_network_is_let_in_with_a_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], host: str, key: str | None, warns: bool
) -> None:
    try:
        ReceiverProcess(tmp_path, key, host=host, log_level="warning").stop()
    except ReceiverStartError:
        pytest.skip(f"no {host} here")
    assert ("without a key, everybody who can reach" in capfd.readouterr().err) is warns


@pytest.mark.parametrize("missing", ["msgspec", "python_multipart", "starlette", "uvicorn"])
def test_a_missing_extra_is_named(missing: str) -> None:
    code = f"import runpy, sys; sys.modules[{missing!r}] = None; "
    code += "runpy.run_module('uploader.receiver.__main__', run_name='__main__')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == f"python -m uploader.receiver: {missing} is missing: pip install 'unstall[receiver]'\n"


def test_a_second_receiver_is_refused_the_directory(tmp_path: Path) -> None:
    with ReceiverProcess(tmp_path):
        command = [sys.executable, "-m", "uploader.receiver", "--data-dir", str(tmp_path), "--port", "0"]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode != 0
        assert second.stdout == ""
        assert "served by another receiver" in second.stderr
        assert "Traceback" not in second.stderr


def test_a_receiver_that_does_not_start_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ReceiverStartError) as caught:
        ReceiverProcess(tmp_path, host="192.0.2.1")
    assert caught.value.returncode not in (None, 0)
    assert capfd.readouterr().err


def test_what_was_stored_outlives_the_process(tmp_path: Path) -> None:
    record = episode("stays", trace("stays too"))
    with ReceiverProcess(tmp_path) as receiver, httpx.Client(base_url=receiver.url) as client:
        first = post(client, jsonl(record), line_format="episode")
        assert receiver.stop() == 0
    with ReceiverProcess(tmp_path) as receiver, httpx.Client(base_url=receiver.url) as client:
        assert client.get("/api/v1/episodes/stays?raw=true").content == dumps(record)
        assert post(client, jsonl(record), line_format="episode").json() == first.json()


def test_an_upload_that_has_begun_is_finished(tmp_path: Path) -> None:
    with (
        ReceiverProcess(tmp_path, hold_upload_s=1.0) as receiver,
        httpx.Client(base_url=receiver.url) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        pending = pool.submit(post, client, jsonl(trace("begun")))
        with httpx.Client(base_url=receiver.url) as other:
            while not other.get("/healthz").json()["uploads_in_flight"] and not pending.done():
                threading.Event().wait(0.01)
        assert receiver.stop() == 0
        assert pending.result().status_code == 201
    with ReceiverProcess(tmp_path) as receiver, httpx.Client(base_url=receiver.url) as client:
        assert client.get("/api/v1/traces/begun").status_code == 200


@pytest.mark.parametrize("seed", range(3))
def test_killed_during_uploads(tmp_path: Path, seed: int) -> None:
    """What was answered 201 is there, whole; of anything else there is all or nothing, and no leftover."""
    random_ = random.Random(seed)
    batches = [jsonl(*(trace(f"{b}-{n}", text="x" * 2_000) for n in range(30))) for b in range(32)]
    answered: set[int] = set()
    enough = threading.Event()
    goal = random_.randrange(1, 20)

    def produce(client: httpx.Client, numbers: range) -> None:
        for number in numbers:
            try:
                status = post(client, batches[number]).status_code
            except httpx.TransportError:
                return
            assert status == 201
            answered.add(number)
            if len(answered) >= goal:
                enough.set()

    receiver = ReceiverProcess(tmp_path)
    with httpx.Client(base_url=receiver.url) as client:
        threads = [threading.Thread(target=produce, args=(client, range(n, 32, 4))) for n in range(4)]
        for thread in threads:
            thread.start()
        assert enough.wait(60)
        threading.Event().wait(random_.random() / 20)
        receiver.kill()
        for thread in threads:
            thread.join(60)

    with ReceiverProcess(tmp_path) as again, httpx.Client(base_url=again.url) as client:
        stored = set()
        for number, data in enumerate(batches):
            lines = data.splitlines()
            found = [client.get(f"/api/v1/traces/{number}-{n}?raw=true") for n in (0, 15, 29)]
            if found[0].status_code == 200:
                stored.add(number)
                assert [response.content for response in found] == [lines[0], lines[15], lines[29]]
            else:
                assert [response.status_code for response in found] == [404] * 3
        assert stored >= answered
        files = {path.stem for path in tmp_path.glob("lines/*/*.gz")}
        assert files == {key_of(batches[number]).removeprefix("sha256:") for number in stored}
        assert not list((tmp_path / "incoming").iterdir())
        # Sending everything again stores the rest.
        for data in batches:
            assert post(client, data).status_code == 201
        assert len(list(tmp_path.glob("lines/*/*.gz"))) == len(batches)
