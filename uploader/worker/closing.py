"""The end of a worker, within its time: whatever the disk, the service or a record's encoder does.

1. Nothing is taken any more, and a last barrier goes through the encoder and the compressor. When it has not come out a
   reserve before the deadline, it jumps the queue: the record in hand is finished, what there is is sealed and kept.
2. What is kept is sent until the deadline.
3. The counts are frozen: what was not sealed is dropped, what was not sent waits on disk, or is dropped without one.

Each wait is bounded, and the last ones together take less than a second beyond the deadline. Ctrl-C makes the deadline
come at once, and is raised at the end; a second one is raised where it comes.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from uploader.worker.barriers import Barrier
from uploader.worker.counts import Counts
from uploader.worker.engine import Engine
from uploader.worker.tracking import BatchKey, key_of

NO_TIME: Final = "there was no time left at the end"

_RESERVE: Final = 0.25
"""The part of the time that is kept for sealing what there is."""
_LONGEST_RESERVE_S: Final = 2.0

_SLICE_S: Final = 0.1

_SEAL_GRACE_S: Final = 0.4
"""How long the last batch may take beyond the deadline."""
_STOP_S: Final = 0.2
_CLOSE_S: Final = 0.15


class Closing:
    """Closes an engine, once.

    Args:
        engine: what is closed.
        timeout_s: how long it may take.
        clock: seconds that only ever grow.
    """

    def __init__(self, engine: Engine, timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._deadline_s = clock() + max(0.0, timeout_s)
        self._reserve_s = min(_LONGEST_RESERVE_S, _RESERVE * max(0.0, timeout_s))
        self._last = Barrier(is_last=True)
        self._interrupt: BaseException | None = None

    def run(self) -> Counts:
        """Do it, and return the final counts.

        Raises:
            KeyboardInterrupt: it came meanwhile.
        """
        engine = self._engine
        engine.intake.close()
        if engine.beginning.has_begun():
            engine.intake.put_barrier(self._last)
            self._bounded(lambda: self._wait(self._last.wait, self._reserve_s))
            self._seal_at_once()
            self._send()
        counts = self._freeze()
        self._let_go()
        if self._interrupt is not None:
            raise self._interrupt
        return counts

    def hurry(self) -> None:
        """From any thread, or a signal handler: let the time be over now."""
        self._deadline_s = min(self._deadline_s, self._clock())

    def _wait(self, wait: Callable[[float], bool], reserve_s: float = 0.0) -> None:
        """Wait until something is so or the time is over, looking up now and then: the time may be cut short.

        Ctrl-C that comes just before a wait is seen only after it.
        """
        while (left_s := self._left_s(reserve_s)) > 0:
            slice_s = min(left_s, _SLICE_S)
            started_s = self._clock()
            if wait(slice_s) or self._clock() - started_s < slice_s / 2:  # so, or there is nothing to wait for
                break

    def _left_s(self, reserve_s: float = 0.0) -> float:
        return max(0.0, self._deadline_s - reserve_s - self._clock())

    def _bounded(self, wait: Callable[[], object]) -> None:
        """Wait; the first Ctrl-C, or exit by a signal handler, ends that, and all the waiting for the service."""
        try:
            wait()
        except (KeyboardInterrupt, SystemExit) as error:
            if self._interrupt is not None:
                raise
            self._interrupt = error
            self.hurry()

    def _seal_at_once(self) -> None:
        if not self._last.is_passed:
            self._engine.intake.end(self._last)
            self._engine.keeper.stop()
            self._bounded(lambda: self._last.wait(self._left_s() + _SEAL_GRACE_S))

    def _send(self) -> None:
        delivery = self._engine.delivery
        if delivery is not None:
            self._bounded(lambda: self._wait(delivery.wait_idle))
            self._bounded(lambda: delivery.stop(_STOP_S))

    def _freeze(self) -> Counts:
        """Let the counts be final: what a stopped sink lacks, and no disk has, is dropped for the sink's reason.

        So is what found no room beside it. All else is dropped for want of time.
        """
        engine = self._engine
        sinks = () if engine.delivery is None else engine.delivery.stats()
        stopped = {sink.name: sink.stopped_text for sink in sinks if sink.stopped_text}
        unsent: dict[BatchKey, str] = {}
        rest = NO_TIME
        for spooled in engine.keeper.in_memory() if stopped else ():
            reason = ", ".join(stopped[each.sink] for each in spooled.waiting_for if each.sink in stopped)
            unsent[key_of(spooled)] = reason or NO_TIME
            if reason and engine.keeper.had_no_room:
                rest = reason
        return engine.ledger.freeze(rest, unsent)

    def _let_go(self) -> None:
        engine = self._engine
        closed = threading.Event()

        def close() -> None:  # a disk may hang
            engine.leftovers.close()
            engine.keeper.close()
            closed.set()

        try:
            threading.Thread(target=close, name="uploader close", daemon=True).start()
        except RuntimeError:  # the interpreter ends, and takes no new thread
            close()
        self._bounded(lambda: closed.wait(_CLOSE_S))
        if engine.beginning.begun:
            self._bounded(lambda: engine.reporting.end(_CLOSE_S))
