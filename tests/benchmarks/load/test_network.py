import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from benchmarks.load.network import PERIOD_S, STILL_S, network, shaped, stalled, still_for_s
from tests.faults.proxy import Fault, FaultProxy

MESSAGE = bytes(range(256)) * 2000


@pytest.fixture
def echo() -> Iterator[str]:
    """A server that sends back what it gets, once it has got all."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(read_all(connection)[::-1])

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def through(url: str) -> bytes:
    parts = urlsplit(url)
    with closing(socket.create_connection((str(parts.hostname), int(parts.port or 0)))) as client:
        client.sendall(MESSAGE)
        client.shutdown(socket.SHUT_WR)
        return read_all(client)


@pytest.mark.parametrize("fault", [shaped(0.001, 1e9), stalled(lambda: 0.0)], ids=["shaped", "stalled"])
def test_a_slow_network_changes_nothing(fault: Fault, echo: str) -> None:
    with FaultProxy(echo, otherwise=fault) as proxy:
        assert through(proxy.url) == MESSAGE[::-1]


@pytest.mark.parametrize("name", ["none", "shaped", "stalled"])
def test_the_receiver_is_reached_over_each(name: str, echo: str) -> None:
    with network(name, echo) as url:
        assert (url == echo) is (name == "none")
        assert through(url) == MESSAGE[::-1]


def test_a_stalled_network_moves_for_a_time_and_then_stands_still() -> None:
    assert still_for_s(0.0) == 0.0
    assert still_for_s(PERIOD_S - STILL_S - 0.001) == 0.0
    assert still_for_s(PERIOD_S - STILL_S) == STILL_S
    assert still_for_s(PERIOD_S - 0.5) == pytest.approx(0.5)
    assert still_for_s(7 * PERIOD_S) == 0.0
