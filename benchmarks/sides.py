"""The uploaders that are compared, behind one face: unstall's worker, and the released prime-runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import httpx

from uploader.config import Config
from uploader.runs.identity import Identity
from uploader.sinks.traces import TracesSink
from uploader.worker.worker import UploadWorker

UNSTALL: Final = "unstall"
PRIME_RUNS: Final = "prime-runs"
SIDES: Final = (UNSTALL, PRIME_RUNS)

KEY: Final = "key"
URL: Final = "http://service.test"
RUN_ID: Final = "bench"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an uploader says became of the records.

    Attributes:
        stored: those that the service has.
        spooled: those on disk, which the next run sends.
        set_aside: those on disk for somebody to look at.
        lost: those that are nowhere any more, or not for longer than the process.
    """

    stored: int
    spooled: int
    set_aside: int
    lost: int


class Side(Protocol):
    """An uploader."""

    def submit(self, records: Sequence[Any]) -> bool: ...
    def flush(self, timeout_s: float) -> bool: ...
    def close(self, timeout_s: float) -> Outcome: ...


class Unstall:
    """`UploadWorker` with a spool on disk."""

    def __init__(self, transport: Any, spool: Path | None, url: str = URL) -> None:
        self._worker = UploadWorker(
            [TracesSink(Config(KEY, url), transport=transport)],
            run_id=RUN_ID,
            spool=spool,
            prepare=Identity("eval", RUN_ID).preparer(None),
        )
        self.submit = self._worker.submit

    def flush(self, timeout_s: float) -> bool:
        return self._worker.flush(timeout_s)

    def close(self, timeout_s: float) -> Outcome:
        counts = self._worker.close(timeout_s).stats.counts
        assert counts.total == counts.submitted, counts
        return Outcome(counts.stored, counts.spooled + counts.in_flight, counts.rejected, counts.dropped)


class PrimeRuns:
    """prime-runs' `UploadWorker` over the client that it brings; its queue and its patience are scaled.

    Records wait in memory alone: what is not stored at the end is lost.
    """

    def __init__(self, transport: httpx.BaseTransport | None, scale: float, url: str = URL) -> None:
        # Only here: the tests of the benchmarks do without them.
        client, sink, worker = map(import_module, ("prime_traces", "prime_runs.sinks.traces", "prime_runs.worker"))
        self._sink = sink.TracesSink(client=client.TracesClient(api_key=KEY, base_url=url, transport=transport))
        self._sink.start(RUN_ID, {"run_type": "eval"})
        self._worker = worker.UploadWorker(
            [self._sink],
            max_queue_size=max(1, round(worker.DEFAULT_QUEUE_SIZE * scale)),
            put_timeout=worker.DEFAULT_PUT_TIMEOUT * scale,
        )
        self._submitted = 0

    def submit(self, records: Sequence[Any]) -> bool:
        self._submitted += len(records)
        return bool(self._worker.submit(records))

    def flush(self, timeout_s: float) -> bool:
        return bool(self._worker.flush(timeout_s))

    def close(self, timeout_s: float) -> Outcome:
        self._worker.close(timeout_s)
        stored: int = self._sink.episodes_written
        return Outcome(stored, 0, 0, self._submitted - stored)


def new_side(name: str, transport: Any, spool: Path | None, *, scale: float = 1.0, url: str = URL) -> Side:
    """A side by its name."""
    return Unstall(transport, spool, url) if name == UNSTALL else PrimeRuns(transport, scale, url)
