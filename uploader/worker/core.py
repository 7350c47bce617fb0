"""The worker: takes records at once, and brings them to every sink in the background."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from uploader.models import LineFormat
from uploader.worker.barriers import Barrier
from uploader.worker.closing import Closing
from uploader.worker.engine import Engine
from uploader.worker.forks import begin_anew_after_fork
from uploader.worker.intake import Prepare
from uploader.worker.settings import WorkerSettings
from uploader.worker.stats import WorkerReport, WorkerStats

DEFAULT_CLOSE_TIMEOUT_S: Final = 30.0

_SINGLE: Final = (str, bytes, bytearray, memoryview, Mapping, BaseModel)
_WAIT_FOR_CLOSER_S: Final = 0.9


class Worker:
    """Takes records from any thread, and from coroutines, without making them wait.

    Args:
        settings: all that it needs.

    Raises:
        SpoolError: the spool's folder cannot be opened.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._engine = Engine(settings)
        self._engine.keeper.open()
        self._begin_empty()
        begin_anew_after_fork(self)

    def _begin_empty(self) -> None:
        self._closing = threading.Lock()  # taken by whoever closes, and never let go
        self._closed = threading.Event()
        self._current_closing: Closing | None = None
        self._closing_thread = 0
        self._report: WorkerReport | None = None

    def begin(self) -> None:
        """Have the threads started now, which the first record would do; it waits for nothing."""
        self._engine.begin()

    def submit(
        self,
        records: Sequence[Any],
        line_format: LineFormat = LineFormat.EPISODE,
        *,
        prepare: Prepare | None = None,
    ) -> bool:
        """Queue records for the encoder. It never waits and never encodes.

        A record belongs to the worker from now on: it is encoded later, and must not be changed.

        Args:
            records: mappings, objects with `iter_json`, `to_json` or `to_record`, or encoded lines.
            line_format: what they are.
            prepare: makes of each, on the encoder's thread, what is encoded in its place.

        Returns:
            True; False if the queue has no room for all of them, or the worker is closed: then none is queued, and they
            are counted as dropped.

        Raises:
            TypeError: it was given a single record.
        """
        if type(records) is not list and isinstance(records, _SINGLE):
            raise TypeError(f"records must be a sequence of records, not one {type(records).__name__}: give [record]")
        engine = self._engine
        reason = engine.intake.put(records, line_format, prepare or self._settings.prepare)
        if not engine.beginning.begun:
            engine.begin()
        return reason is None

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until everything submitted so far is safe: on disk, and forced to it; stored, where there is no spool.

        Args:
            timeout_s: how long to wait; None for as long as it takes.

        Returns:
            Whether it is. What was dropped or set aside is not waited for.
        """
        engine = self._engine
        if engine.ledger.queued:
            engine.begin()  # where the first record could not
        if not engine.beginning.has_begun():
            return engine.ledger.queued == 0
        barrier = Barrier()
        engine.intake.put_barrier(barrier)
        return barrier.wait(timeout_s)

    def close(self, timeout_s: float = DEFAULT_CLOSE_TIMEOUT_S) -> WorkerReport:
        """Send what there is, keep the rest on disk, and end. It takes less than a second more than it is given.

        Called again, it returns the same report; called by a signal handler that interrupted it, the figures of that
        moment, and the interrupted call hurries.

        Args:
            timeout_s: how long it may take.

        Returns:
            What became of everything.

        Raises:
            KeyboardInterrupt: Ctrl-C came; what there was is sealed and kept all the same.
        """
        if self._closing_thread == threading.get_ident():  # a signal handler that interrupted `close`
            self.hurry()
            return self._report or self._report_now()
        if not self._closing.acquire(blocking=False):
            self._closed.wait(timeout_s + _WAIT_FOR_CLOSER_S)
            return self._report or self._report_now()
        self._current_closing = Closing(self._engine, timeout_s)
        self._closing_thread = threading.get_ident()
        try:
            self._current_closing.run()
        finally:
            self._report = self._report_now()
            self._closing_thread = 0
            self._closed.set()
        return self._report

    def hurry(self) -> None:
        """Let a `close` that waits, in whatever thread, seal and keep what there is now; it never waits itself."""
        if self._current_closing is not None:
            self._current_closing.hurry()

    def _report_now(self) -> WorkerReport:
        stats = self.stats
        is_left = stats.counts.spooled or stats.counts.in_flight or stats.counts.rejected
        keeper = self._engine.keeper
        return WorkerReport(stats, getattr(keeper.disk, "path", None) if is_left else None, keeper.set_aside)

    @property
    def stats(self) -> WorkerStats:
        """Everything about the worker, of this moment."""
        return self._engine.stats()

    def after_fork(self) -> None:
        """Begin anew, in a forked child."""
        was_closed = self._closed.is_set()
        self._engine = Engine(self._settings)
        self._begin_empty()
        if was_closed:
            self._engine.intake.close()
