"""A proxy that breaks connections between a client and a real receiver: one fault for each connection, then none."""

import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

_CHUNK = 65536


class Connection:
    """A client's connection, and what it asked for.

    Attributes:
        client: its socket.
        ended: set when the proxy ends.
    """

    def __init__(self, client: socket.socket, upstream: tuple[str, int], ended: threading.Event) -> None:
        self.client = client
        self.ended = ended
        self._upstream = upstream

    def read_request(self) -> bytes:
        """A whole request."""
        return self._read_message(self.client)

    def forwarded(self) -> bytes:
        """Let the receiver have the whole request; its whole answer, which the client has not got yet."""
        request = self.read_request()
        with socket.create_connection(self._upstream) as server:
            server.sendall(request)
            return self._read_message(server)

    def reset(self) -> None:
        """End with a RST."""
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.close()

    def relay(self, pipes: "Pipes | None" = None) -> None:
        """Do nothing wrong, for as long as both sides like.

        Args:
            pipes: what moves the bytes to the receiver, and those to the client; by default as fast as they come.
        """
        there, back = pipes or (pipe, pipe)
        with socket.create_connection(self._upstream) as server:
            thread = threading.Thread(target=back, args=(server, self.client), daemon=True)
            thread.start()
            there(self.client, server)
            thread.join()

    @staticmethod
    def _read_message(source: socket.socket) -> bytes:
        data = bytearray()
        while b"\r\n\r\n" not in data:
            data += _received(source)
        head, _, body = bytes(data).partition(b"\r\n\r\n")
        [length] = [int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        rest = bytearray(body)
        while len(rest) < length:
            rest += _received(source)
        return head + b"\r\n\r\n" + bytes(rest)


Fault = Callable[[Connection], None]

Pipe = Callable[[socket.socket, socket.socket], None]
"""Moves bytes from one socket to another until the first one ends."""
Pipes = tuple[Pipe, Pipe]


class FaultProxy:
    """Listens on a port of its own; a context manager.

    Args:
        upstream_url: where the receiver listens.
        faults: what happens to the first connections.
        otherwise: what happens to all others; by default they are relayed.

    Attributes:
        faults: what happens to the next connections.
        num_connections: how many there were.
    """

    def __init__(self, upstream_url: str, faults: Iterable[Fault] = (), *, otherwise: Fault = Connection.relay) -> None:
        parts = urlsplit(upstream_url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._upstream = (parts.hostname, parts.port)
        self.faults = deque(faults)
        self._otherwise = otherwise
        self.num_connections = 0
        self._ended = threading.Event()
        self._clients: list[socket.socket] = []
        self._listener = self._listen(0)
        self._port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def refuse(self) -> None:
        """Listen no more: connections are refused."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def accept(self) -> None:
        """Listen again, at the same port."""
        self._listener = self._listen(self._port)

    def cut(self) -> None:
        """End the connections that there are."""
        clients, self._clients = self._clients, []
        for client in clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.refuse()
        self.cut()

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return listener

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                self._clients.append(client)
                self.num_connections += 1
                fault = self.faults.popleft() if self.faults else self._otherwise
                connection = Connection(client, self._upstream, self._ended)
                threading.Thread(target=_run, args=(fault, connection), daemon=True).start()


# The faults


def reset_in_body(connection: Connection) -> None:
    """The head and a part of the body, then a RST."""
    _received(connection.client, 300)
    connection.reset()


def reset_at_once(connection: Connection) -> None:
    connection.reset()


def never_answer(connection: Connection) -> None:
    connection.read_request()
    connection.ended.wait()


def never_read(connection: Connection) -> None:
    connection.ended.wait()


def store_and_cut(connection: Connection) -> None:
    """The receiver stores it, but the client gets only the beginning of the receipt."""
    answer = connection.forwarded()
    assert answer.startswith(b"HTTP/1.1 201")
    connection.client.sendall(answer[:-20])


def store_and_say_nothing(connection: Connection) -> None:
    connection.forwarded()


def trickle(connection: Connection) -> None:
    """The whole answer, byte by byte."""
    for byte in connection.forwarded():
        connection.client.sendall(bytes([byte]))


def trickle_for_ever(connection: Connection) -> None:
    """A head that never ends, a byte every few milliseconds."""
    connection.forwarded()
    connection.client.sendall(b"HTTP/1.1 201 Created\r\nX-Long: ")
    while not connection.ended.is_set():
        connection.client.sendall(b"a")
        time.sleep(0.005)


def garbage(connection: Connection) -> None:
    connection.read_request()
    connection.client.sendall(b"\x00\xff\x17\x03 no HTTP at all\r\n\r\n")


def login_page(connection: Connection) -> None:
    connection.read_request()
    answering(200, b"<html>please log in</html>")(connection)


def wrong_receipt(connection: Connection) -> None:
    connection.read_request()
    answering(201, b'{"upload_id":"0","status":"committed"}')(connection)


def answering(status: int, body: bytes = b"{}", **headers: str) -> Fault:
    """An answer of somebody in between, who reads nothing."""

    def answer(connection: Connection) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        connection.client.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def read_and_answer(connection: Connection) -> None:
        connection.read_request()
        answer(connection)

    return answer if status < 300 else read_and_answer


def _run(fault: Fault, connection: Connection) -> None:
    with suppress(OSError, EOFError), connection.client:
        fault(connection)


def _received(source: socket.socket, size: int = _CHUNK) -> bytes:
    data = source.recv(size)
    if not data:
        raise EOFError
    return data


def pipe(source: socket.socket, target: socket.socket) -> None:
    """Move bytes as fast as they come."""
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
