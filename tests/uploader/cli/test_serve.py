import signal
import socket
from pathlib import Path

import pytest

from tests.uploader.cli.conftest import KEY, Command, start, trace_line
from uploader import TracesClient, UnauthorizedError

KEY_VARIABLE = "UPLOADER_RECEIVER_API_KEY"


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_its_first_line_is_its_address(tmp_path: Path, stop: signal.Signals) -> None:
    process = start("serve", "--data-dir", tmp_path / "data", "--port", "0", UPLOADER_RECEIVER_API_KEY=KEY)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        with TracesClient("wrong", url, "") as client, pytest.raises(UnauthorizedError):
            client.upload_lines([trace_line("served")])
        with TracesClient(KEY, url, "") as client:
            client.upload_lines([trace_line("served")])
            assert client.get_raw("served") == trace_line("served").rstrip()
    finally:
        process.send_signal(stop)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert KEY not in err


def test_without_a_key_everybody_is_let_in(tmp_path: Path) -> None:
    process = start("serve", "--data-dir", tmp_path / "data", "--host", "localhost", "--port", "0")
    assert process.stdout is not None
    try:
        with TracesClient("any", process.stdout.readline().strip(), "") as client:
            assert client.list().items == []
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(["--api-key", ""], {}), ([], {"UPLOADER_RECEIVER_API_KEY": ""}), (["--api-key", ""], {KEY_VARIABLE: KEY})],
)
def test_an_empty_key_is_no_wish_to_let_everybody_in(
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ran = command("serve", "--data-dir", tmp_path / "data", "--port", 0, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert KEY_VARIABLE in ran.err
    assert "it is empty" in ran.err
    assert not (tmp_path / "data").exists()


def test_an_address_in_use(command: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ran = command("serve", "--data-dir", tmp_path / "data", "--port", server.getsockname()[1])
    assert ran.code == 1
    assert "cannot serve" in ran.err


def test_usage(command: Command, tmp_path: Path) -> None:
    assert command("serve").code == 2
    assert command("serve", "--data-dir", tmp_path, "--port", "65536").code == 2
