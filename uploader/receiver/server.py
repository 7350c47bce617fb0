"""Runs the receiver with uvicorn until a signal ends it."""

import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from uploader.receiver.app import create_app
from uploader.receiver.settings import ReceiverSettings
from uploader.receiver.store import Store

_log: Final = logging.getLogger(__name__)

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8083
_BACKLOG: Final = 256
#: How long uploads that have begun may go on after a signal.
_GRACE_S: Final = 10
#: How long an idle connection is kept; longer than the pause between two batches of a slow producer.
_KEEP_ALIVE_S: Final = 75


def serve(
    data_dir: Path | str,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    api_key: str | None = None,
    *,
    settings: ReceiverSettings | None = None,
    log_level: str = "info",
) -> None:
    """Serve until SIGTERM or SIGINT; uploads that have begun are finished first.

    The first line on standard output is the receiver's URL, once it accepts connections. Logs go to standard
    error.

    Args:
        data_dir: where everything is stored; created when missing.
        host: the address to listen on; only this machine reaches the default.
        port: the port; 0 picks a free one.
        api_key: the bearer token that every request needs; None lets everyone in.
        settings: everything, limits included, in place of `data_dir` and `api_key`.
        log_level: of standard error: `debug`, `info`, `warning`, `error`.

    Raises:
        UnusableSettingError: a setting cannot be used.
        OSError: the address can't be listened on.
        DataDirInUseError: another receiver serves the directory.
    """
    settings = settings or ReceiverSettings(data_dir=Path(data_dir), api_key=api_key)
    logging.basicConfig(level=log_level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    with _listen(host, port) as listener, closing(Store(settings.data_dir)) as store:
        if settings.api_key is None and not _is_loopback(listener):
            _log.warning("without a key, everybody who can reach %s reads and writes everything: set one", host)
        server = _AnnouncingServer(_config(create_app(settings, store)), _url(listener))
        with _signals_end(server):
            server.run(sockets=[listener])


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=_KEEP_ALIVE_S,
        server_header=False,
    )


class _AnnouncingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, url: str) -> None:
        super().__init__(config)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self._url, flush=True)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; else each answer waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # A port is free again at once after its receiver ended; on Windows the option means something else.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


@contextmanager
def _signals_end(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGTERM and SIGINT end the server, and nothing else.

    uvicorn handles them while it runs and then raises them once more for whoever was there before; here that
    is us.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
