"""A service that is down for ten minutes and more, on a clock that passes them at once."""

import functools
from pathlib import Path

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, until
from tests.uploader.worker.test_worker import Service, new, numbers
from uploader.testing import FakeClock, fake_time
from uploader.worker.counts import Counts

OUTAGE_S = 600.0


def has_passed(clock: FakeClock, seconds: float) -> bool:
    return clock.monotonic() >= seconds


@pytest.mark.parametrize("status", [503, 429, 500])
@pytest.mark.parametrize("in_memory", [False, True])
def test_ten_minutes_lose_nothing(tmp_path: Path, status: int, in_memory: bool) -> None:
    service, records = Service(), numbers(70)
    clock = FakeClock()
    with fake_time(clock):
        worker = new(service, None if in_memory else tmp_path)
        worker.submit(records[:10])
        until(lambda: worker.stats.stored == 10)
        service.status = status
        for stage in range(1, 6):
            worker.submit(records[10 * stage : 10 * stage + 10])
            until(functools.partial(has_passed, clock, stage * OUTAGE_S / 5))
        counts = worker.stats.counts
        assert (counts.stored, counts.dropped, counts.total) == (10, 0, 60)
        service.status = 201
        worker.submit(records[60:])
        report = worker.close(TIMEOUT_S)
    assert report.stats.counts == Counts(submitted=70, stored=70)
    assert sorted(service.lines) == sorted(records)
    (sink,) = report.stats.sinks
    assert sink.retries + sink.refusals >= 5
    assert max(clock.sleeps) <= 60
    assert list(tmp_path.iterdir()) == []
