"""Memory stays bounded: a gzip bomb, huge lines, and many producers at once."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.uploader.receiver.support import code_of, jsonl, key_of, parts_of, post, trace
from uploader.receiver import ReceiverProcess

MIB = 1024 * 1024


def peak_bytes(receiver: ReceiverProcess) -> int:
    """The most memory that the process ever held; skips where the system does not tell."""
    status = Path(f"/proc/{receiver.pid}/status")
    if not status.exists():
        pytest.skip("no /proc here")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def test_gzip_bombs_stop_at_the_limits(receiver: ReceiverProcess, client: httpx.Client) -> None:
    before = peak_bytes(receiver)
    one_line = gzip.compress(bytes(32 * MIB)) * 128
    assert len(one_line) < 8 * MIB
    response = post(client, b"bomb", files=parts_of(one_line))
    assert code_of(response) == (400, "trace_too_large")
    blanks = gzip.compress((b" " * 1023 + b"\n") * 32 * 1024) * 128
    assert code_of(post(client, b"bomb", files=parts_of(blanks))) == (400, "upload_too_large")
    nested = gzip.compress(gzip.compress(bytes(64 * MIB)))
    assert code_of(post(client, b"bomb", files=parts_of(nested)))[0] == 400
    assert peak_bytes(receiver) - before < 200 * MIB
    assert post(client, jsonl(trace("after the bombs"))).status_code == 201


def test_lines_of_countless_objects(receiver: ReceiverProcess, client: httpx.Client) -> None:
    """Sixty million bytes of `{},` would be gigabytes of objects."""
    before = peak_bytes(receiver)
    objects = b"{}," * (20 * MIB) + b"{}"
    for start, line_format, answer in (
        (b'{"id":"e","traces":[', "episode", (400, "too_many_traces_in_episode")),
        (b'{"id":"calls","calls":[', "trace", None),
        (b'{"id":"errors","errors":[', "trace", None),
        (b'{"id":"nodes","nodes":[', "trace", None),
    ):
        response = post(client, start + objects + b"]}", line_format=line_format)
        assert response.status_code == 201 if answer is None else code_of(response) == answer
    assert client.get("/api/v1/traces/errors").json()["execution"]["has_error"]
    assert peak_bytes(receiver) - before < 300 * MIB


def test_many_producers_of_large_batches(tmp_path: Path) -> None:
    data = [jsonl(*(trace(f"{b}-{n}", text=f"{n % 10}" * MIB) for n in range(24))) for b in range(12)]
    with (
        ReceiverProcess(tmp_path, max_requests_in_flight=12, workers=2) as receiver,
        httpx.Client(base_url=receiver.url, timeout=120) as client,
        ThreadPoolExecutor(12) as pool,
    ):
        before = peak_bytes(receiver)
        # Plain bodies: what is sent is what could be held.
        answers = list(pool.map(lambda body: post(client, body, compress=False), data))
        assert {answer.status_code for answer in answers} == {201}
        # 12 bodies of 24 MiB; a few lines and buffers of them are ever in memory.
        assert peak_bytes(receiver) - before < 100 * MIB


def test_a_line_at_the_limit(receiver: ReceiverProcess, client: httpx.Client) -> None:
    before = peak_bytes(receiver)
    start = b'{"id":"longest","x":"'
    data = start + b"y" * (64 * MIB - len(start) - 2) + b'"}\n'
    response = post(client, data)
    assert response.status_code == 201
    assert client.get("/api/v1/traces/longest").json()["size_bytes"] == 64 * MIB
    with client.stream("GET", "/api/v1/traces/longest?raw=true") as raw:
        assert key_of(b"".join(raw.iter_bytes()) + b"\n") == key_of(data)
    assert peak_bytes(receiver) - before < 250 * MIB
