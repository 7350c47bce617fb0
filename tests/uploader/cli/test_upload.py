import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.uploader.cli.conftest import KEY, Command, Ran, trace_line
from uploader import TracesClient
from uploader.receiver import ReceiverProcess
from uploader.testing import fake_time

Write = Callable[[str, bytes], Path]


def upload_ids(ran: Ran) -> list[str]:
    """The receipts that a command printed."""
    return re.findall(r"\b[0-9a-f]{64}\b", ran.out)


def stored_lines(receiver: ReceiverProcess, upload_id: str) -> set[str]:
    with TracesClient(KEY, receiver.url, "") as client:
        return {trace.trace_id for trace in client.iter(upload_id=upload_id)}


def test_files_are_stored(command: Command, use_receiver: ReceiverProcess, write: Write) -> None:
    first = write("first.jsonl", b"".join(trace_line(f"first-{number}") for number in range(5)))
    second = write("second.jsonl", trace_line("second-0") + b"\n\n" + trace_line("second-1").rstrip())
    ran = command("upload", first, second)
    assert ran.code == 0
    ids = upload_ids(ran)
    assert len(ids) == 2
    assert stored_lines(use_receiver, ids[0]) == {f"first-{number}" for number in range(5)}
    assert stored_lines(use_receiver, ids[1]) == {"second-0", "second-1"}
    assert f"1-5  {ids[0]}" in ran.out
    assert f"1-4  {ids[1]}" in ran.out
    assert "first.jsonl: " in ran.err
    assert "1 batch, 0 retries" in ran.err


def test_the_same_file_twice_is_stored_once(command: Command, use_receiver: ReceiverProcess, write: Write) -> None:
    path = write("same.jsonl", trace_line("same"))
    assert upload_ids(command("upload", path)) == upload_ids(command("upload", path))


def test_options_reach_the_service(command: Command, receiver: ReceiverProcess, write: Write) -> None:
    path = write("options.jsonl", trace_line("option-0", 1000) + trace_line("option-1", 1000))
    options = ["--context", "step=7", "--compress", "off", "--batch-bytes", "1000", "--max-in-flight", "2"]
    ran = command("upload", path, "--url", f"{receiver.url}/api/v1/", "--api-key", KEY, "--team-id", "team", *options)
    assert ran.code == 0
    assert len(upload_ids(ran)) == 2
    with TracesClient(KEY, receiver.url, "") as client:
        assert client.get("option-1").context == {"step": "7"}
    assert KEY not in ran.out + ran.err


@pytest.mark.parametrize("bad", [b'{"a": 1\n', b"[]\n", b'{"a": "\xff"}\n'])
def test_a_bad_line_stops_its_batch_alone(
    command: Command, use_receiver: ReceiverProcess, write: Write, bad: bytes
) -> None:
    name = f"bad{len(bad)}"
    lines = b"".join(trace_line(f"{name}-{number}", 1000) for number in range(4))
    path = write("bad.jsonl", lines + bad + trace_line(f"{name}-after"))
    other = write("other.jsonl", trace_line(f"{name}-other"))
    ran = command("upload", path, other, "--batch-bytes", 2500)
    assert ran.code == 1
    assert "bad.jsonl: line 5: not" in ran.err
    assert "nothing of its batch was sent" in ran.err
    ids = upload_ids(ran)
    assert len(ids) == 2
    assert stored_lines(use_receiver, ids[0]) == {f"{name}-0", f"{name}-1"}
    assert stored_lines(use_receiver, ids[1]) == {f"{name}-other"}


def test_an_empty_file(command: Command, use_receiver: ReceiverProcess, write: Write) -> None:
    ran = command("upload", write("empty.jsonl", b""))
    assert ran.code == 1
    assert "empty.jsonl: line 1: the file is empty" in ran.err
    assert upload_ids(ran) == []


def test_a_line_that_is_too_long(command: Command, use_receiver: ReceiverProcess, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(trace_line("before-long"))
        file.truncate(70 * 1024 * 1024)
    ran = command("upload", path, "--batch-bytes", 10)
    assert ran.code == 1
    assert "line 2 is " in ran.err
    assert upload_ids(ran) == []  # found before any request


def test_a_refusal_names_the_lines(command: Command, use_receiver: ReceiverProcess, write: Write) -> None:
    path = write("refused.jsonl", trace_line("refused-0") + b"\n" + trace_line("refused-0"))
    ran = command("upload", path)
    assert ran.code == 1
    assert "lines 1-3 were not stored" in ran.err
    assert "duplicate_trace_id" in ran.err


def test_the_wrong_line_format_is_explained(command: Command, use_receiver: ReceiverProcess, write: Write) -> None:
    episode = trace_line("episode").replace(b'"nodes": []', b'"traces": []')
    ran = command("upload", write("episodes.jsonl", episode))
    assert ran.code == 1
    assert "--line-format episode" in ran.err
    assert "line_format=" not in ran.err
    assert command("upload", write("traces.jsonl", trace_line("trace")), "--line-format", "episode").code == 1


def test_a_wrong_key_stops_at_once(command: Command, use_receiver: ReceiverProcess, write: Write) -> None:
    paths = [write(f"{number}.jsonl", trace_line(f"{number}")) for number in range(2)]
    ran = command("upload", *paths, "--api-key", "wrong-key")
    assert ran.code == 1
    assert "HTTP 401" in ran.err
    assert ran.err.count("HTTP 401") == 1
    assert "not sent" in ran.out
    assert "wrong-key" not in ran.out + ran.err


def test_an_unreachable_service(command: Command, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIME_API_KEY", KEY)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    path = write("unreachable.jsonl", trace_line("unreachable"))
    with fake_time():
        ran = command("upload", path, path, "--url", url, "--max-attempts", 3)
    assert ran.code == 3
    assert "attempt 1 failed, the next in 1.0 s" in ran.err
    assert "attempt 2 failed, the next in 2.0 s" in ran.err
    assert "3 attempts" in ran.err
    assert "run the same command again" in ran.err
    assert "unreachable" in ran.out
    assert KEY not in ran.out + ran.err


def test_usage(command: Command, write: Write, tmp_path: Path) -> None:
    path = write("usage.jsonl", trace_line("usage"))
    assert command("upload").code == 2
    assert command("upload", tmp_path / "absent.jsonl").code == 2
    assert command("upload", tmp_path).code == 2
    assert command("upload", path, "--line-format", "lines").code == 2
    assert command("upload", path, "--max-in-flight", 9).code == 2
    no_key = command("upload", path)
    assert no_key.code == 2
    assert "PRIME_API_KEY" in no_key.err
    assert "--api-key" in no_key.err
    for wrong in (["--compress", "10"], ["--compress", "fast"], ["--context", "novalue"], ["--url", "ftp://host"]):
        ran = command("upload", path, "--api-key", KEY, *wrong)
        assert ran.code == 2
        assert f"uploader: {wrong[0]}: " in ran.err
        assert KEY not in ran.out + ran.err
    assert "base_url" not in ran.err
    twice = command("upload", path, "--context", "a=1", "--context", "a=2")
    assert (twice.code, twice.err) == (2, "uploader: --context: 'a' is given twice\n")
    assert command("upload", path, "--api-key", "two words").err.startswith("uploader: --api-key: ")


@pytest.mark.parametrize("line", [b'{"messages": [{"role": "user", "content": "a"}]}', b'[{"role": "user"}]'])
def test_chats_are_to_be_converted_first(
    command: Command, use_receiver: ReceiverProcess, write: Write, line: bytes
) -> None:
    ran = command("upload", write("chats.jsonl", b"\n" + line + b"\n"), "--line-format", "episode")
    assert ran.code == 1
    assert "uploader convert" in ran.err


def test_output_fits_80_columns(
    command: Command, use_receiver: ReceiverProcess, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    paths = [
        write(f"{'a very long name ' * 5}{number}.jsonl", trace_line(f"width-{number}") if number else b"")
        for number in range(3)
    ]
    ran = command("upload", *paths)
    assert ran.code == 1
    assert len(upload_ids(ran)) == 2
    assert max(map(cell_len, ran.out.splitlines())) <= 80
