"""A receiver that things happen to, and who makes them happen at their times."""

import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from benchmarks.load.network import move
from benchmarks.load.soak import Fault
from benchmarks.sides import KEY
from tests.faults.proxy import Connection, FaultProxy, answering, never_answer, pipe, reset_at_once, reset_in_body
from tests.faults.proxy import Fault as OnConnection
from uploader.receiver import ReceiverProcess

_CONNECTIONS: Final = 8
"""So many requests an uploader has under way at most."""
_ON_CONNECTIONS: Final[dict[str, list[OnConnection]]] = {
    "reset": [reset_in_body, reset_at_once] * (_CONNECTIONS // 2),
    "429": [answering(429, Retry_After="1")] * _CONNECTIONS,
    "503": [answering(503)] * _CONNECTIONS,
    "silence": [never_answer] * 2,
}


class Site:
    """A receiver behind a proxy; a context manager.

    Args:
        data_dir: where the receiver stores.

    Attributes:
        url: the proxy's.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._moves = threading.Event()
        self._moves.set()
        self._receiver = ReceiverProcess(data_dir, KEY)
        self._port = int(self._receiver.url.rpartition(":")[2])
        self._proxy = FaultProxy(self._receiver.url, otherwise=self._relay)
        self.url = self._proxy.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._moves.set()
        self._proxy.__exit__()
        self._receiver.stop()

    def _relay(self, connection: Connection) -> None:
        connection.relay((self._pipe, pipe))

    def _pipe(self, source: socket.socket, target: socket.socket) -> None:
        move(source, target, lambda size: self._moves.wait())

    def throw(self, name: str, wait: Callable[[], object]) -> None:
        """Let something go wrong, and be well again.

        Args:
            name: which of `soak.FAULTS`.
            wait: called meanwhile, where it lasts.
        """
        if name in _ON_CONNECTIONS:
            self._proxy.faults.extend(_ON_CONNECTIONS[name])
            self._proxy.cut()  # requests come on new connections now
        elif name == "refuse":
            self._proxy.refuse()
            self._proxy.cut()
            wait()
            self._proxy.accept()
        elif name == "stall":
            self._moves.clear()
            wait()
            self._moves.set()
        else:
            self._receiver.kill()
            wait()
            self._receiver = ReceiverProcess(self._data_dir, KEY, port=self._port)

    def recover(self) -> None:
        """Be well: what nobody answers is ended."""
        self._proxy.faults.clear()
        self._proxy.cut()


class Thrower:
    """Throws faults in, in a thread.

    Args:
        site: what they concern.
        faults: which, in order of time.
        clock: seconds that only ever grow.

    Attributes:
        thrown: names and when they began, in seconds from the start.
        problem: what ended it early; None if nothing did.
    """

    def __init__(self, site: Site, faults: Sequence[Fault], clock: Callable[[], float]) -> None:
        self._site = site
        self._faults = faults
        self._clock = clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.thrown: list[tuple[str, float]] = []
        self.problem: str | None = None

    def start(self) -> None:
        """Time begins now."""
        self._start_s = self._clock()
        self._thread.start()

    def stop(self) -> None:
        """Throw nothing any more; everything is well then."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._site.recover()

    def _work(self) -> None:
        try:
            for fault in self._faults:
                if self._stop.wait(max(0.0, fault.at_s - (self._clock() - self._start_s))):
                    return
                self.thrown.append((fault.name, self._clock() - self._start_s))
                self._site.throw(fault.name, lambda for_s=fault.for_s: self._stop.wait(for_s))  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - shown with the results
            self.problem = f"no more faults were thrown in: {type(error).__name__}: {error}"
