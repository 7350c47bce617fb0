"""Many producers at one receiver that admits fewer requests than they would make.

    found = contention(receiver.url, spool, seconds=25)

The receiver holds each upload for a while, so that its slots are what is scarce, not the machine's cores. How many it
stores at best is measured before and after, with exactly as many requests at all times as it admits.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.sides import KEY
from uploader.config import Config
from uploader.errors import RetryableAPIError
from uploader.models import LineFormat
from uploader.sealing import SealedBatch, Sealer
from uploader.sinks.base import SinkBatch
from uploader.sinks.traces import TracesSink

PRODUCERS: Final = 12
SLOTS: Final = 16
HOLD_S: Final = 0.5
"""How long the receiver holds an upload: as long as it needs for one of some ten megabytes."""
BEST_S: Final = 8.0
WARM_UP_S: Final = 1.0

_CHILD: Final = Path(__file__).parent / "contention_child.py"
_MOST_OF_ALL: Final = 8 / SLOTS
"""So much of what the receiver can store can one producer send, with its eight requests."""


@dataclass(frozen=True, slots=True)
class Contention:
    """What was found.

    Attributes:
        seconds: how long the producers sent.
        stored: how many batches each got stored in that time.
        first_half: how many of them in its first half.
        refusals: how many requests were refused.
        best_per_s: how many batches a second the receiver stores at best.
    """

    seconds: float
    stored: list[int]
    first_half: list[int]
    refusals: int
    best_per_s: float

    @property
    def goodput(self) -> float:
        """The share of the receiver's best."""
        return sum(self.stored) / self.seconds / self.best_per_s

    @property
    def goodput_at_first(self) -> float:
        """The same in the first half of the time."""
        return 2 * sum(self.first_half) / self.seconds / self.best_per_s

    @property
    def least(self) -> float:
        """What the slowest producer got, as a share of the mean."""
        return min(self.stored) * len(self.stored) / sum(self.stored)


def contention(
    url: str, spool: Path, seconds: float, *, on_step: Callable[[str], object] = lambda step: None
) -> Contention:
    """Measure the receiver's best, let the producers send, and measure it again.

    Args:
        url: where a receiver listens that takes our key, `SLOTS` requests at once, and holds each for `HOLD_S`.
        spool: the producers' spool.
        seconds: how long they send.
        on_step: told what is done.
    """
    on_step("the receiver's best")
    before_per_s = asyncio.run(_best_per_s(url, "before"))
    on_step("the producers log")
    with ExitStack() as stack:
        batches = round(SLOTS / HOLD_S * seconds * _MOST_OF_ALL)
        children = [stack.enter_context(_child(f"producer{each}", url, spool, batches)) for each in range(PRODUCERS)]
        for child in children:
            assert _line(child) == b"ready\n"
        on_step("the producers send")
        start_s = time.monotonic()
        for child in children:
            _tell(child)
        time.sleep(seconds / 2)
        half = _ask(children)
        time.sleep(start_s + seconds - time.monotonic())
        whole = _ask(children)
        took_s = time.monotonic() - start_s
        for child in children:
            child.communicate()
    on_step("the receiver's best, again")
    best_per_s = (before_per_s + asyncio.run(_best_per_s(url, "after"))) / 2
    stored = [each[0] for each in whole]
    assert max(stored) < batches, "one had sent all, and the others had the receiver for themselves"
    return Contention(took_s, stored, [each[0] for each in half], sum(each[1] for each in whole), best_per_s)


async def _best_per_s(url: str, name: str) -> float:
    """How many batches are stored a second when there are always as many requests as are admitted."""
    sink = TracesSink(Config(KEY, url))
    await sink.start("best")
    number = 0
    stored_at: list[float] = []
    end_s = time.monotonic() + WARM_UP_S + BEST_S

    async def send() -> None:
        nonlocal number
        while time.monotonic() < end_s:
            number += 1
            batch = SinkBatch("best", LineFormat.TRACE, _sealed(f"{name}{number}"))
            with suppress(RetryableAPIError):  # while requests of others, which have ended, are still held
                await sink.send(batch)
                stored_at.append(time.monotonic())

    await asyncio.gather(*(send() for _ in range(SLOTS)))
    await sink.close()
    return sum(end_s - BEST_S <= at < end_s for at in stored_at) / BEST_S


def _sealed(name: str) -> SealedBatch:
    line = json.dumps({"id": name, "environment": "bench"}).encode() + b"\n"
    sealer = Sealer()
    sealer.add([line], len(line), 1)
    return sealer.seal()


def _child(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", str(_CHILD), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ)


def _tell(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    child.stdin.write(b"\n")
    child.stdin.flush()


def _line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    return child.stdout.readline()


def _ask(children: list[subprocess.Popen[bytes]]) -> list[Any]:
    for child in children:
        _tell(child)
    return [json.loads(_line(child)) for child in children]
