"""Rows of metrics, from the caller's thread to wherever they go, in order.

A row is put in a queue and the caller goes on; one daemon thread makes JSON of it and delivers it. What could not be
delivered when time is up is handed back.
"""

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias

from uploader.pumps import StoppedError
from uploader.runs.non_finite import NON_FINITE
from uploader.worker.beginning import Beginning

logger = logging.getLogger(__name__)

Row: TypeAlias = dict[str, Any]
Deliver: TypeAlias = Callable[[Row, threading.Event], None]
"""Delivers one row; it gives up with StoppedError once the event is set."""

MAX_QUEUED_ROWS: Final = 100_000

_NOTICE_S: Final = 0.05
_DROP: Final = object()


def metrics_row(values: Mapping[str, Any], step: int | None, now_s: float) -> Row:
    """A row as it is queued: a dict of its own, not looked into yet."""
    row = dict(values)
    if step is not None:
        row.setdefault("step", step)
    row.setdefault("_timestamp", now_s)
    return row


def plain(values: Mapping[str, Any]) -> Row:
    """Values as JSON has them: numbers of numpy or torch as Python's, and without NaN and infinities.

    A warning names those that were left out, each once.
    """
    left_out: list[str] = []
    cleaned = _plain_mapping(values, "", left_out)
    NON_FINITE.warn(left_out)
    return cleaned


def _plain_mapping(values: Mapping[str, Any], prefix: str, left_out: list[str]) -> Row:
    cleaned = {}
    for name, value in values.items():
        kept = _plain(value, f"{prefix}{name}", left_out)
        if kept is not _DROP:
            cleaned[str(name)] = kept
    return cleaned


def _plain(value: Any, name: str, left_out: list[str]) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        left_out.append(name)
        return _DROP
    if isinstance(value, Mapping):
        return _plain_mapping(value, f"{name}.", left_out)
    if isinstance(value, list | tuple):
        return [kept for each in value if (kept := _plain(each, name, left_out)) is not _DROP]
    for convert in ("item", "tolist"):  # a scalar of numpy or torch; else an array
        if callable(method := getattr(value, convert, None)):
            try:
                return _plain(method(), name, left_out)
            except (TypeError, ValueError, RuntimeError):
                continue
    return str(value)


class MetricsQueue:
    """Delivers rows in order, in a thread of its own.

    Args:
        deliver: takes one row to its place.
        name: the thread's name.
        no_place: why there is no place for any row, so that none is taken; empty if there is one.

    Attributes:
        failed: rows that could not be delivered, by a fault of their own.
        dropped: rows that were not taken: the queue was full, or there is no place for them.
    """

    def __init__(self, deliver: Deliver, name: str, no_place: str = "") -> None:
        self._deliver = deliver
        self._name = name
        self._no_place = no_place
        self.failed = 0
        self.dropped = 0
        self.forget()

    def forget(self) -> None:
        """Begin anew, with nothing queued, as in a process that was just forked."""
        self._items: SimpleQueue[Row | threading.Event] = SimpleQueue()
        self._current: deque[Row] = deque(maxlen=1)
        self._stop, self._ended = threading.Event(), threading.Event()
        self._beginning = Beginning()

    def put(self, row: Row) -> bool:
        """Queue a row; False if there are too many, or no place for them, which is said once."""
        if self._no_place or self._items.qsize() >= MAX_QUEUED_ROWS:
            if self._no_place and not self.dropped:
                logger.warning("Rows of metrics are not taken, and counted as lost: %s", self._no_place)
            self.dropped += 1
            return False
        self._items.put(row)
        self.start()
        return True

    def start(self) -> None:
        """Have the thread started, unless it is; it waits for nothing."""
        if self._beginning.begun:
            return
        arguments = (self._items, self._stop, self._ended)
        thread = threading.Thread(target=self._work, args=arguments, name=self._name, daemon=True)
        with suppress(RuntimeError):
            self._beginning.begin(thread.start)

    def flush(self, timeout_s: float | None) -> bool:
        """Wait until all that was put before is delivered."""
        if not self._beginning.has_begun():
            return self._items.empty()
        passed = threading.Event()
        self._items.put(passed)
        return passed.wait(timeout_s) and not self._stop.is_set()

    def close(self, timeout_s: float) -> list[Row]:
        """Wait so long for what is queued, then no longer; what was not delivered, in order.

        A row that was on its way just then is among it, though it may have arrived: to deliver it twice does no harm.
        """
        delivered = self.flush(timeout_s)
        self._stop.set()
        if not self._beginning.begun:
            return list(self._drained())
        self._items.put(threading.Event())  # wakes the thread
        if delivered:
            return []
        self._ended.wait(_NOTICE_S)
        # Once it is to stop the thread takes nothing more, so nothing is missed between these two.
        return [*self._current, *self._drained()]

    def _drained(self) -> Iterator[Row]:
        while True:
            try:
                item = self._items.get_nowait()
            except Empty:
                return
            if isinstance(item, dict):
                yield item

    def _work(self, items: SimpleQueue[Row | threading.Event], stop: threading.Event, ended: threading.Event) -> None:
        try:
            while not stop.is_set():
                item = items.get()
                if isinstance(item, threading.Event):
                    item.set()
                else:
                    self._current.append(item)
                    self._deliver_one(item, stop)
                    self._current.clear()
        except StoppedError:  # the row stays on hand, for whoever closes
            return
        finally:
            ended.set()

    def _deliver_one(self, row: Row, stop: threading.Event) -> None:
        try:
            self._deliver(plain(row), stop)
        except StoppedError:
            raise
        except Exception:
            self.failed += 1
            logger.exception("A row of metrics could not be delivered")
