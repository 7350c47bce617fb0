"""The two shells against a real socket: a peer of the standard library, which knows nothing of this client."""

import asyncio
import http.server
import logging
import socket
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import uploader
from tests.uploader.faces import KEY, Face, both, lines
from uploader.exchange import ERROR_BODY_BYTES
from uploader.testing import fake_time


class Handler(http.server.BaseHTTPRequestHandler):
    """Stores what it gets; refuses what its path says."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[dict[str, str], bytes]]
    answers: list[int]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
        status = self.answers.pop(0) if self.answers else 201
        digest = self.headers["Idempotency-Key"].removeprefix("sha256:")
        answer = b'{"upload_id": "%s", "status": "committed"}' % digest.encode()
        if status != 201:
            answer = b"x" * (10 * ERROR_BODY_BYTES)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None: ...


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A client that hangs up early is meant."""


@pytest.fixture
def peer() -> Iterator[tuple[str, type[Handler]]]:
    handler = type("Fresh", (Handler,), {"seen": [], "answers": []})
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", handler
        finally:
            server.shutdown()
            thread.join()


@both
def test_a_peer_we_did_not_write_gets_the_whole_body(
    face: Face, peer: tuple[str, type[Handler]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url, handler = peer
    handler.answers.append(503)
    big = [bytes([48 + number % 10]) * 1_000_000 + b"\n" for number in range(5)]
    with fake_time():
        receipts = face.use(
            None,
            lambda client: client.upload_lines(big, compress=False, target_batch_bytes=2_000_002),
            base_url=url,
        )
    assert len(receipts) == 3
    assert len(handler.seen) == 4
    for headers, body in handler.seen:
        assert headers["authorization"] == f"Bearer {KEY}"
        assert int(headers["content-length"]) == len(body)
    stored = {headers["idempotency-key"]: body for headers, body in handler.seen}
    assert sum(body.count(b"\n") >= 1 and body.count(line) for body in stored.values() for line in big) == 5
    assert KEY not in caplog.text


@both
def test_no_more_of_a_refusal_is_read_than_a_message(face: Face, peer: tuple[str, type[Handler]]) -> None:
    url, handler = peer
    handler.answers.append(400)
    with pytest.raises(uploader.ValidationRejectedError) as caught:
        face.use(None, lambda client: client.upload_lines(lines(1)), base_url=url)
    assert len(caught.value.message) <= 500


@both
def test_a_service_that_cannot_be_reached_is_said_after_the_attempts(face: Face) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with fake_time() as clock, pytest.raises(uploader.TransportError, match=f"{url}.*5 attempts"):
        face.use(None, lambda client: client.upload_lines(lines(1)), base_url=url)
    assert clock.sleeps == [1, 2, 4, 8]


@both
def test_a_service_that_never_answers(face: Face) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(uploader.APITimeoutError):
            face.use(
                None,
                lambda client: client.upload_lines(lines(1), max_attempts=1),
                base_url=url,
                timeout=0.2,
            )


async def test_a_cancelled_request_closes_its_connection() -> None:
    connected, closed = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # With its first bytes the request is under way for certain; its connection may be accepted before the client
        # knows of it.
        while await reader.read(65536):
            connected.set()
        closed.set()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with uploader.AsyncTracesClient("key", url, "") as client:
            task = asyncio.create_task(client.upload_lines(lines(1)))
            await connected.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(30):
                await closed.wait()


def everything(error: BaseException) -> str:
    """An error as the most talkative tool would print it, with the variables of every frame."""
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    link: BaseException | None = error
    while link is not None:
        shown += f"{link!r} {vars(link)}"
        if isinstance(link, httpx.RequestError):
            shown += str(link.request.headers.raw)
        link = link.__cause__ or link.__context__
    return shown


@both
@pytest.mark.parametrize("method", ["upload_lines", "get_raw", "list"])
def test_not_even_the_frames_of_an_error_hold_the_key(face: Face, method: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    args: dict[str, list[Any]] = {"upload_lines": [lines(1)], "get_raw": ["t"], "list": []}
    with fake_time(), pytest.raises(uploader.TransportError) as caught:
        face.use(None, lambda client: getattr(client, method)(*args[method]), base_url=url)
    link: BaseException = caught.value
    assert isinstance(link.__cause__, httpx.ConnectError)
    caught.value.__traceback__ = None  # of this test itself, where the key is a variable
    assert KEY not in everything(caught.value)
