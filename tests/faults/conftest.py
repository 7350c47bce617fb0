"""A real receiver, and a way to log through a faulty proxy to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.uploader.delivery.support import Listener, sealed
from tests.uploader.receiver.support import dumps, trace
from uploader.config import Config
from uploader.delivery.sender import Sender
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.sinks.traces import TracesSink
from uploader.spool.folder import DiskFolder
from uploader.testing import FakeClock, fake_time

KEY = "pk-very-secret-0123456789"


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiverProcess]:
    with ReceiverProcess(tmp_path_factory.mktemp("receiver")) as process:
        yield process


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    with fake_time() as clock:
        yield clock


class Producer:
    """A sender with one sink and a spool on disk.

    Attributes:
        run_id: also tells its records from those of others.
    """

    def __init__(self, url: str, root: Path, run_id: str, *, max_in_flight: int = 1, timeout_s: float = 30.0) -> None:
        self.run_id = run_id
        self.sink = TracesSink(Config(KEY, url), timeout=httpx.Timeout(timeout_s))
        self.listener = Listener()
        self.sender = Sender([self.sink], max_in_flight=max_in_flight, listener=self.listener)
        self.folder = DiskFolder.open(root, run_id, [self.sink.destination], context={"run": run_id})
        self.num_traces = 0

    def log(self, batches: int, records: int = 3) -> None:
        for _ in range(batches):
            numbers = range(self.num_traces, self.num_traces + records)
            content = [dumps(trace(f"{self.run_id}-{number}")) + b"\n" for number in numbers]
            self.num_traces += records
            self.sender.offer(self.folder, self.folder.add(LineFormat.TRACE, sealed(content)))

    def names(self) -> list[str]:
        return sorted(f"{self.run_id}-{number}" for number in range(self.num_traces))


def stored_names(receiver: ReceiverProcess, run_id: str) -> list[str]:
    """The ids of all traces that the receiver has of a producer, in order; one that it had twice would come twice."""
    found: list[str] = []
    params: dict[str, Any] = {"limit": 100, "context.run": run_id}
    while True:
        page = httpx.get(f"{receiver.url}/api/v1/traces", params=params).json()
        found += [item["trace_id"] for item in page["items"]]
        if page["next_cursor"] is None:
            return sorted(found)
        params["cursor"] = page["next_cursor"]
