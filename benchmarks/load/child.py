"""The process that is measured.

    python benchmarks/load/child.py CASE URL FOLDER

CASE is a `Case` as JSON, URL is that of the receiver, empty for none. It prints a line of JSON now and then: `ready`
before the first episode is logged, `done` with how many are delivered, `soak` with the rate that is 100 %, and
`found` with everything at the end. It is run as a file; installed packages win over this checkout's.
"""

import asyncio
import gc
import json
import logging
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.load import soak
from benchmarks.load.beside import shown
from benchmarks.load.cases import Case
from benchmarks.load.histogram import Histogram
from benchmarks.load.loop import Loop
from benchmarks.load.plain_way import PlainWay
from benchmarks.load.protocol import Target
from benchmarks.load.rollouts import Rollouts, new_rollouts
from benchmarks.load.targets import Monitors
from benchmarks.logging_child import clear_peak, limit_memory
from benchmarks.memory_child import give_back, status_bytes
from benchmarks.sides import KEY

_KINDS_OF_A_SOAK: Final = 1000
_QUIET: Final = {"WANDB_SILENT": "true", "WANDB_CONSOLE": "off"}


class Channel:
    """Prints for the parent alone: whatever else is printed goes to standard error."""

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def tell(self, **facts: Any) -> None:
        """Print a line."""
        self._output.write(json.dumps(facts) + "\n")
        self._output.flush()


async def measure(case: Case, target: Target, rollouts: Rollouts, channel: Channel) -> dict[str, Any]:
    """Log everything, wait until it is delivered, and see what that does to the loop."""
    cpu_s = time.process_time()
    rate: float | None = None
    async with Loop(rollouts, target, lambda done: channel.tell(done=done)) as loop:
        channel.tell(ready=True)
        if case.soak_s:
            rate = await soaked(loop, case.soak_s, channel)
        else:
            await loop.log_episodes(None, lambda: loop.logged == case.episodes)
        logged_s = loop.seconds
        await target.finalize()
        seconds = loop.seconds
    outcome = target.outcome()
    return {
        "episodes": loop.logged,
        "bytes": rollouts.bytes_before(loop.logged),
        "seconds": seconds,
        "logged_s": logged_s,
        "cpu_s": time.process_time() - cpu_s,
        "lag": shown(loop.lags),
        "log": in_microseconds(loop.logs),
        "log_cpu": in_microseconds(loop.log_cpu),
        "series": {name: [round(value, 3) for value in values] for name, values in loop.series.columns().items()},
        "rate": rate,
        "outcome": asdict(outcome),
    }


async def soaked(loop: Loop, soak_s: float, channel: Channel) -> float:
    """See what rate is held, then log at a part of it for so long; the rate, in bytes a second."""
    probe = soak.RateProbe(soak.probing_s(soak_s))

    def is_over() -> bool:
        return probe.is_over(loop.seconds, loop.depth.done, loop.done_bytes)

    await loop.log_episodes(None, is_over, lambda: loop.waiting >= soak.MOST_WAITING)
    rate = probe.bytes_per_s
    loop.begin_anew()
    channel.tell(soak=rate)
    await loop.log_episodes(soak.SHARE * rate, lambda: loop.seconds > soak_s, lambda: False)
    channel.tell(logged=loop.logged)
    return rate


def in_microseconds(taken: Histogram) -> dict[str, float]:
    """The figures of calls."""
    figures = {"p50_us": taken.percentile(50), "p99_us": taken.percentile(99), "worst_us": taken.worst}
    return {"calls": taken.count} | {name: round(value, 1) for name, value in figures.items()}


def main(case: Case, url: str | None, folder: Path) -> None:
    """Measure and print."""
    channel = Channel()
    os.environ.update(_QUIET)
    logging.disable(logging.WARNING)
    limit_memory()
    rollouts = new_rollouts(case.episodes or _KINDS_OF_A_SOAK, case.scale)
    gc.collect()
    give_back()
    before = clear_peak()
    target: Target = PlainWay(str(url), KEY) if case.monitors == "plain" else Monitors(case, url, folder)
    found = asyncio.run(measure(case, target, rollouts, channel))
    found |= {"peak_bytes": status_bytes("VmHWM") - before if before else None, "start_bytes": before}
    channel.tell(found=found)


if __name__ == "__main__":
    main(Case(**json.loads(sys.argv[1])), sys.argv[2] or None, Path(sys.argv[3]))
