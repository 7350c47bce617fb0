"""A service that is down for ten minutes, which pass at once."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from unittest import mock

from benchmarks.services import SimulatedService
from benchmarks.sides import PRIME_RUNS, Outcome, Side, new_side
from encoder.synthetic import synthetic_episode
from uploader.testing import FakeClock, fake_time

OUTAGE_S: Final = 600.0
STAGES: Final = 7
"""Records are logged before, five times meanwhile, and after."""
RECORDS: Final = 50
"""So many each time."""
TIMEOUT_S: Final = 60.0

_EPISODE_BYTES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Outage:
    """How an uploader came through.

    Attributes:
        submitted: all records.
        outcome: what it says became of them.
        requests: how many the service took.
    """

    submitted: int
    outcome: Outcome
    requests: int


def outage(side: str, spool: Path) -> Outage:
    """Log before, during and after an outage."""
    clock = FakeClock()
    base = synthetic_episode(1, target_bytes=_EPISODE_BYTES)
    is_down = False
    service = SimulatedService(is_down=lambda: is_down)
    with fake_time(clock), mock.patch("prime_traces.traces.time", SimpleNamespace(sleep=lambda s: _sleep(clock, s))):
        worker = new_side(side, service, spool)
        for stage in range(STAGES):
            is_down = 0 < stage < STAGES - 1
            worker.submit([base.model_copy(update={"id": f"{stage}-{number}"}) for number in range(RECORDS)])
            if is_down:
                _pass(side, worker, clock, OUTAGE_S / (STAGES - 2))
            else:
                assert worker.flush(TIMEOUT_S)
        return Outage(STAGES * RECORDS, worker.close(TIMEOUT_S), service.requests)


def _sleep(clock: FakeClock, delay_s: float) -> None:
    clock.sleep(delay_s, threading.Event())


def _pass(side: str, worker: Side, clock: FakeClock, seconds: float) -> None:
    """Let time pass: our sender's own pauses move it on, for as long as it tries; prime-runs gives up after some."""
    end_s = clock.monotonic() + seconds
    if side == PRIME_RUNS:
        worker.flush(TIMEOUT_S)
        _sleep(clock, max(0.0, end_s - clock.monotonic()))
    deadline_s = time.monotonic() + TIMEOUT_S
    while clock.monotonic() < end_s:
        assert time.monotonic() < deadline_s, "nothing was tried again"
        time.sleep(0.001)
