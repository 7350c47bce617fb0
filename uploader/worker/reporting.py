"""A thread that logs warnings and calls the user's hook, so that neither holds up anybody who works or logs.

It looks by itself for what was dropped: to tell it would cost the producers, thousands of times a second, more than all
else that they do.
"""

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from uploader.errors import DamagedBatchError
from uploader.worker.complaints import Complaints
from uploader.worker.events import Dropped, Rejected, Resumed, SinkStopped, SpoolDamaged, SpoolUnavailable, WorkerEvent
from uploader.worker.supervision import Supervised

logger = logging.getLogger(__name__)

Hook: TypeAlias = Callable[[WorkerEvent], object]
"""Called with each event, in the thread of the reports."""

_MAX_WAITING: Final = 10_000
"""The most events that wait for a slow hook; those beyond are not told."""

_LOOK_EVERY_S: Final = 0.25


class Reporting:
    """Takes events from any thread.

    Args:
        hook: the user's.
        name: the thread's name.
        dropped: how many records were dropped so far, by reason.
        clock: seconds that only ever grow.
    """

    def __init__(
        self,
        hook: Hook | None,
        name: str,
        dropped: Callable[[], Mapping[str, int]] = dict,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hook = hook
        self._clock = clock
        self._dropped = dropped
        self._told_dropped: Mapping[str, int] = {}
        self._look_at_s = 0.0
        self._events: SimpleQueue[WorkerEvent | None] = SimpleQueue()
        self._complaints = Complaints()
        self._hook_failed = False
        self.untold = 0
        self.thread = Supervised(name, self._work, lambda error: None)

    def tell(self, event: WorkerEvent) -> None:
        """Have an event reported; it never waits."""
        if self._events.qsize() < _MAX_WAITING:
            self._events.put(event)
        else:
            self.untold += 1

    def end(self, timeout_s: float) -> None:
        """Report what is left, and wait so long for it."""
        self._events.put(None)
        self.thread.ended.wait(max(0.0, timeout_s))

    def _work(self) -> None:
        while True:
            with suppress(Empty):
                event = self._events.get(timeout=_LOOK_EVERY_S)
                if event is None:
                    break
                self._report(event)
            if self._clock() >= self._look_at_s:
                self._look()
                self._look_at_s = self._clock() + _LOOK_EVERY_S
        self._look(all_of_them=True)

    def _look(self, *, all_of_them: bool = False) -> None:
        """Report what was dropped since the last time, and what is due to be said."""
        before, self._told_dropped = self._told_dropped, self._dropped()
        for reason, records in self._told_dropped.items():
            if records > before.get(reason, 0):
                self._report(Dropped(records - before.get(reason, 0), reason))
        for text in self._complaints.due(self._clock(), all_of_them=all_of_them):
            logger.warning("%s", text)

    def _report(self, event: WorkerEvent) -> None:
        self._complain(event)
        if self._hook is None:
            return
        try:
            self._hook(event)
        except Exception:
            if not self._hook_failed:
                logger.exception("The on_event hook failed; its further errors are not logged")
            self._hook_failed = True

    def _complain(self, event: WorkerEvent) -> None:
        match event:
            case Dropped(records, reason):
                self._warn(f"drop {reason}", records, f"dropped: {reason}")
            case Rejected(records, reason, error):
                self._warn(f"reject {reason}", records, f"set aside: {error}")
            case SpoolUnavailable(error):
                self._warn("spool", 1, f"kept in memory, as the spool cannot be written: {error}", "batch")
            case SpoolDamaged(DamagedBatchError() as error):
                logger.warning("The spool: %s", error)
            case SpoolDamaged(error):
                self._warn(f"spool {error}", 1, f"of the spool: {error}", "problem")
            case Resumed(run_id, batches, records):
                logger.info("Run %s left %d batches of %d records, which are sent", run_id, batches, records)
            case SinkStopped(sink, error):
                logger.error("The sink %s is stopped, nothing more is sent to it: %s", sink, error)
            case _:
                pass

    def _warn(self, kind: str, count: int, text: str, noun: str = "record") -> None:
        said = self._complaints.note(kind, count, text, self._clock(), noun)
        if said is not None:
            logger.warning("%s", said)
