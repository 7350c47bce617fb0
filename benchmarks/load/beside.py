"""An idle loop in a process of its own, which ticks beside what is measured: what the machine does to any loop.

As many rollouts wait in it, so that garbage is collected in it as often.

    python benchmarks/load/beside.py

It counts from the first line of its standard input to the end of it, and prints what it saw as JSON.
"""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.load.heap import frozen_heap
from benchmarks.load.histogram import Histogram
from benchmarks.load.waiting import rollouts_under_way
from encoder.probe import LoopProbe

_KEPT_S: Final = 1.0
_TIMEOUT_S: Final = 60.0


async def main() -> None:
    """Tick and print."""
    lags = Histogram()
    ended = threading.Event()
    async with rollouts_under_way(), frozen_heap():
        await asyncio.to_thread(sys.stdin.readline)
        threading.Thread(target=wait_for_end, args=(ended,), daemon=True).start()
        while not ended.is_set():
            async with LoopProbe() as probe:  # which keeps all of its ticks
                await asyncio.sleep(_KEPT_S)
            for lag_ms in probe.lags_ms:
                lags.add(lag_ms)
    print(json.dumps(shown(lags)), flush=True)


def wait_for_end(ended: threading.Event) -> None:
    """Say when the standard input ends."""
    sys.stdin.read()
    ended.set()


def shown(lags: Histogram) -> dict[str, Any]:
    """The figures of some lags."""
    return {
        "p50_ms": lags.percentile(50),
        "p99_ms": lags.percentile(99),
        "worst_ms": lags.worst,
        "ticks": lags.count,
        "curve": lags.curve(),
    }


class Beside:
    """Such a process; a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self) -> None:
        """Count from now on."""
        assert self._process.stdin is not None
        self._process.stdin.write("begin\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """What it saw."""
        output, _ = self._process.communicate(timeout=_TIMEOUT_S)
        found: dict[str, Any] = json.loads(output)
        return found


if __name__ == "__main__":
    asyncio.run(main())
