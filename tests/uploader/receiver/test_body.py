"""A refusal does not wait for the body: spoken over a bare socket, where what comes first is seen."""

import json
import socket
from pathlib import Path

import httpx
import pytest

from tests.uploader.receiver.conftest import Serve
from tests.uploader.receiver.support import code_of, jsonl, post, trace
from uploader.receiver import ReceiverProcess


def announce(url: str, size: int, *more: str) -> socket.socket:
    """Open a connection and announce a body, of which only a beginning is sent."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    head = ["POST /api/v1/traces HTTP/1.1", f"Host: {host}", f"Content-Length: {size}", *more]
    connection.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + b"--x\r\n")
    return connection


def read_answer(connection: socket.socket) -> tuple[int, bool, str]:
    """Status, whether the connection will be closed, and the code."""
    received = b""
    while b"\r\n\r\n" not in received or not received.endswith(b"}}"):
        chunk = connection.recv(65536)
        assert chunk, "the connection ended before the answer"
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    return status, b"\r\nconnection: close" in head.lower(), json.loads(body)["error"]["code"]


@pytest.mark.parametrize(
    ("size", "headers", "answer"),
    [
        (1_000_000, [], (401, True, "unauthenticated")),
        (10**12, ["Authorization: Bearer right"], (400, True, "upload_too_large")),
    ],
)
def test_a_refusal_comes_before_the_rest_of_the_body(
    tmp_path: Path, size: int, headers: list[str], answer: tuple[int, bool, str]
) -> None:
    """The rest is never sent, so an answer after it would never come."""
    headers = [*headers, f"Idempotency-Key: sha256:{'0' * 64}", "Content-Type: multipart/form-data; boundary=x"]
    with ReceiverProcess(tmp_path, "right") as receiver, announce(receiver.url, size, *headers) as connection:
        assert read_answer(connection) == answer
        # The connection is still read, so that a producer in the middle of its body is not reset.
        connection.sendall(b"x" * 100_000)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""


def test_the_rest_is_thrown_away_until_the_producer_reads_the_answer(serve: Serve) -> None:
    client = serve("right")
    for _ in range(2):  # on connections of their own
        response = post(client, jsonl(trace("x", text="x" * 20_000_000)), compress=False)
        assert code_of(response) == (401, "unauthenticated")
        assert response.headers["connection"] == "close"


def test_a_verdict_on_a_whole_body_keeps_the_connection(client: httpx.Client) -> None:
    response = post(client, b"no json\n")
    assert response.status_code == 400
    assert "connection" not in response.headers
