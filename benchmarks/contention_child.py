"""A process of its own that sends batches to a receiver which other processes use, too.

    python benchmarks/contention_child.py NAME URL SPOOL BATCHES

It logs, and sends from the first line on its standard input on; at each further line it prints how far it has come.
It is run as a file; installed packages win over this checkout's.
"""

import asyncio
import json
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks.sides import KEY
from encoder.synthetic import synthetic_episode
from uploader.config import Config
from uploader.models import LineFormat
from uploader.sinks.traces import TracesSink
from uploader.worker.worker import UploadWorker

EPISODE_BYTES: Final = 4_000
FLUSH_TIMEOUT_S: Final = 120.0


class Gated(TracesSink):
    """Sends nothing before it may."""

    def __init__(self, url: str, gate: threading.Event) -> None:
        super().__init__(Config(KEY, url))
        self._gate = gate

    async def start(self, run_id: str) -> None:
        """Wait for the gate."""
        await super().start(run_id)
        await asyncio.to_thread(self._gate.wait)


def main(name: str, url: str, spool: str, batches: int) -> None:
    """Log, wait, send, and print."""
    logging.disable(logging.WARNING)
    gate = threading.Event()
    worker = UploadWorker([Gated(url, gate)], run_id=name, spool=spool)
    episode = synthetic_episode(0, target_bytes=EPISODE_BYTES)
    for number in range(batches // 2):
        own = {"id": f"{name}-{number}"}
        worker.submit([episode.model_copy(update=own | {"traces": []})])
        worker.submit([episode.traces[0].model_copy(update=own)], LineFormat.TRACE)
        assert worker.flush(FLUSH_TIMEOUT_S)  # which ends both batches
    print("ready", flush=True)
    sys.stdin.readline()
    gate.set()
    for _ in sys.stdin:
        (sink,) = worker.stats.sinks
        print(json.dumps([sink.stored_batches, sink.refusals, sink.retries]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
