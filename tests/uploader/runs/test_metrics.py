"""Rows of metrics: what becomes of their values, their order, and what is handed back at the end."""

import math
import os
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from uploader.pumps import StoppedError
from uploader.runs import metrics
from uploader.runs.metrics import MetricsQueue, Row, metrics_row, plain
from uploader.runs.metrics_log import MetricsLog


class Sick:
    def item(self) -> Any:
        raise RuntimeError("no device")

    def __str__(self) -> str:
        return "sick"


def test_values_become_json() -> None:
    values = {
        "a": 1,
        "b": 0.5,
        "c": None,
        "d": True,
        "e": "text",
        5: np.float32(0.25),
        "array": np.array([1, 2]),
        "nan": math.nan,
        "inf": np.float64("inf"),
        "nested": {"x": -math.inf, "y": (1, math.nan, 2)},
        "sick": Sick(),
    }
    expected = {
        "a": 1,
        "b": 0.5,
        "c": None,
        "d": True,
        "e": "text",
        "5": 0.25,
        "array": [1, 2],
        "nested": {"y": [1, 2]},
        "sick": "sick",
    }
    assert plain(values) == expected  # type: ignore[arg-type]
    assert orjson.loads(orjson.dumps(plain(values))) == expected  # type: ignore[arg-type]


def test_a_row_has_its_step_and_time() -> None:
    values = {"loss": 0.5}
    assert metrics_row(values, 3, 1.5) == {"loss": 0.5, "step": 3, "_timestamp": 1.5}
    assert metrics_row({"step": 1, "_timestamp": 2}, 3, 1.5) == {"step": 1, "_timestamp": 2}
    assert metrics_row(values, None, 1.5) == {"loss": 0.5, "_timestamp": 1.5}
    assert values == {"loss": 0.5}


class Place:
    """Takes rows while its gate is open."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.gate = threading.Event()
        self.gate.set()
        self.asked = threading.Event()

    def deliver(self, row: Row, stop: threading.Event) -> None:
        self.asked.set()
        while not self.gate.wait(0.005):
            if stop.is_set():
                raise StoppedError
        self.rows.append(row)


ROWS: list[Row] = [{"n": number} for number in range(200)]


def test_rows_are_delivered_in_order() -> None:
    place = Place()
    queue = MetricsQueue(place.deliver, "test")
    assert queue.flush(0)
    assert all(map(queue.put, ROWS))
    assert queue.flush(10)
    assert place.rows == ROWS
    assert queue.close(10) == []


def test_what_was_not_delivered_is_handed_back_in_order() -> None:
    place = Place()
    place.gate.clear()
    queue = MetricsQueue(place.deliver, "test")
    for row in ROWS:
        queue.put(row)
    assert place.asked.wait(10)
    assert not queue.flush(0.01)
    assert queue.close(0.01) == ROWS


def test_a_delivery_that_heeds_nothing_is_not_waited_for() -> None:
    never = threading.Event()

    def deliver(row: Row, stop: threading.Event) -> None:
        never.wait(60)

    queue = MetricsQueue(deliver, "test")
    for row in ROWS[:3]:
        queue.put(row)
    assert queue.close(0.01) == ROWS[:3]
    never.set()


def test_nothing_is_left_when_nothing_was_put() -> None:
    queue = MetricsQueue(Place().deliver, "test")
    assert queue.close(0) == []
    queue = MetricsQueue(Place().deliver, "test")
    queue.start()
    assert queue.close(10) == []


def test_a_row_that_cannot_be_delivered_is_counted_and_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    delivered = []

    def deliver(row: Row, stop: threading.Event) -> None:
        if row["n"] == 1:
            raise OSError("no")
        delivered.append(row)

    queue = MetricsQueue(deliver, "test")
    for row in ROWS[:3]:
        queue.put(row)
    assert queue.close(10) == []
    assert (queue.failed, delivered) == (1, [ROWS[0], ROWS[2]])
    assert "could not be delivered" in caplog.text


def test_a_full_queue_drops_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MAX_QUEUED_ROWS", 2)
    place = Place()
    place.gate.clear()
    queue = MetricsQueue(place.deliver, "test")
    queue.put(ROWS[0])
    assert place.asked.wait(10)
    assert [queue.put(row) for row in ROWS[1:5]] == [True, True, False, False]
    assert queue.dropped == 2
    place.gate.set()
    assert queue.close(10) == []
    assert place.rows == ROWS[:3]


def test_a_forked_child_begins_with_nothing() -> None:
    place = Place()
    place.gate.clear()
    queue = MetricsQueue(place.deliver, "test")
    queue.put(ROWS[0])
    queue.forget()
    place.gate.set()
    queue.put(ROWS[1])
    assert queue.flush(10)
    assert ROWS[1] in place.rows


def test_a_log_is_appended_and_private(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / "run" / "metrics.jsonl")
    log.append([])
    assert not log.path.exists()
    log.append(ROWS[:2])
    MetricsLog(log.path).append(ROWS[2:3])
    assert [orjson.loads(line) for line in log.path.read_bytes().splitlines()] == ROWS[:3]
    assert log.rows == 2
    if os.name == "posix":
        assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_a_row_is_on_disk_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = MetricsLog(tmp_path / "metrics.jsonl")
    log.append(ROWS[:1])
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, data[:3]))
    with pytest.raises(OSError, match="no room"):
        log.append(ROWS[1:2])
    monkeypatch.undo()
    log.append(ROWS[2:3])
    assert [orjson.loads(line) for line in log.path.read_bytes().splitlines()] == [ROWS[0], ROWS[2]]
