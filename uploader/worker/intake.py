"""The queue in front of the encoder: bounded by records and by bytes, and nobody ever waits to put something in.

Rules:

1. What does not fit is refused at once, as a whole; what comes to an empty queue always fits.
2. The bytes are those that the records will have once encoded, by `estimates`. They are corrected, for what is queued
   too, as the encoder sees what records of the group really are.
3. One thread takes; any thread puts. The lock is the ledger's, held for a handful of additions.
4. A barrier goes through in its place. One that jumps the queue ends it: nothing comes behind it.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias

from uploader.worker.barriers import Barrier
from uploader.worker.estimates import Estimate, Scales, estimate
from uploader.worker.ledger import Ledger

TOO_MANY_RECORDS: Final = "the queue holds too many records"
TOO_MANY_BYTES: Final = "the queue holds too many bytes"
CLOSED: Final = "the worker is closed"

Prepare: TypeAlias = Callable[[Any], Any]
"""Makes of a record what is encoded in its place, without changing it."""


class Submission:
    """Records that were submitted together."""

    __slots__ = ("_records", "_taken", "at_s", "estimate", "label", "prepare")

    def __init__(self, records: list[Any], label: Any, prepare: Prepare | None, guess: Estimate, at_s: float) -> None:
        self._records = records
        self._taken = 0
        self.label = label
        self.prepare = prepare
        self.estimate = guess
        self.at_s = at_s

    def take(self) -> Any:
        """The next record, which is not held here any more."""
        record, self._records[self._taken] = self._records[self._taken], None
        self._taken += 1
        return record

    @property
    def is_empty(self) -> bool:
        """Whether all were taken."""
        return self._taken == len(self._records)


class Entry:
    """One record, taken.

    Attributes:
        held: the record, alone in a list, so that its holder can let it go; empty afterwards.
        label: what whoever submitted it gave it.
        prepare: makes of it what is encoded in its place; None for itself.
        estimate: what it was taken for.
    """

    __slots__ = ("estimate", "held", "label", "prepare")

    def __init__(self, submission: Submission) -> None:
        self.held = [submission.take()]
        self.label = submission.label
        self.prepare = submission.prepare
        self.estimate = submission.estimate


class Intake:
    """Takes records from anybody, and gives them to one thread, one by one.

    Args:
        ledger: where they are counted.
        max_records: the most records that wait.
        max_bytes: the most bytes that these make.
        clock: seconds that only ever grow.
    """

    def __init__(
        self, ledger: Ledger, max_records: int, max_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ledger = ledger
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._clock = clock
        self._items: deque[Submission | Barrier] = deque()
        self._units: dict[str, int] = {}
        self._scales = Scales()
        self._current: Submission | None = None
        self._jumped: Barrier | None = None
        self._closed = False  # to records
        self._ended = False  # to barriers
        self._hungry = False  # whether the taking thread waits
        self._wake: SimpleQueue[None] = SimpleQueue()

    def put(self, records: Sequence[Any], label: Any, prepare: Prepare | None = None) -> str | None:
        """Queue all of some records, or none; why not, if so.

        Args:
            records: these; the caller may change the list, but not the records.
            label: what each of them has with it when it is taken, such as its line format.
            prepare: makes of each, for whoever takes it, what is encoded in its place.
        """
        records = list(records)
        count = len(records)
        if not count:
            return None
        guess = estimate(records)
        submission = Submission(records, label, prepare, guess, self._clock())
        ledger = self._ledger
        with ledger.lock:
            reason = self._obstacle(count, guess)
            if reason is None:
                ledger.admit(count)
                self._count(guess, count)
                self._items.append(submission)
            else:
                ledger.refuse(count, reason)
        if reason is None and self._hungry:
            self._rouse()
        return reason

    def _obstacle(self, records: int, guess: Estimate) -> str | None:
        if self._closed:
            return CLOSED
        queued = self._ledger.queued
        if not queued:
            return None
        if queued + records > self._max_records:
            return TOO_MANY_RECORDS
        more = guess.units * records * self._scales.bytes_per_unit(guess.group)
        return TOO_MANY_BYTES if self._queued_bytes() + more > self._max_bytes else None

    def _queued_bytes(self) -> float:
        return sum(units * self._scales.bytes_per_unit(group) for group, units in self._units.items())

    def _count(self, guess: Estimate, records: int) -> None:
        units = self._units.get(guess.group, 0) + guess.units * records
        if units:
            self._units[guess.group] = units
        else:
            del self._units[guess.group]

    def _rouse(self) -> None:
        self._hungry = False
        self._wake.put(None)

    def put_barrier(self, barrier: Barrier) -> None:
        """Queue a barrier: it is given once everything before it was. Behind the last one it fails at once."""
        with self._ledger.lock:
            if self._ended:
                barrier.let_through(failed=True)
            else:
                self._items.append(barrier)
                self._ended = barrier.is_last
        self._rouse()

    def close(self) -> None:
        """Refuse everything from now on."""
        self._closed = True

    def end(self, barrier: Barrier) -> None:
        """Give this barrier next, and nothing any more."""
        with self._ledger.lock:
            self._closed = self._ended = True
            self._jumped = barrier
            for item in self._items:
                if isinstance(item, Barrier) and item is not barrier:
                    item.let_through(failed=True)
        self._rouse()

    def take(self, timeout_s: float) -> Entry | Barrier | None:
        """The next record or barrier; None if nothing came in time. For one thread."""
        if self._jumped is None and self._current is None and not self._items:
            self._hungry = True
            if not self._items and self._jumped is None:  # looked at again: whoever came before saw no hunger
                self._wait(timeout_s)
            self._hungry = False
        with self._ledger.lock:
            return self._jumped or self._next()

    def _wait(self, timeout_s: float) -> None:
        with suppress(Empty):
            self._wake.get(timeout=timeout_s)

    def _next(self) -> Entry | Barrier | None:
        if self._current is None:
            item = self._items.popleft() if self._items else None
            if not isinstance(item, Submission):
                return item
            self._current = item
        submission = self._current
        entry = Entry(submission)
        if submission.is_empty:
            self._current = None
        self._count(submission.estimate, -1)
        self._ledger.take()
        return entry

    def learn(self, guess: Estimate, size: int) -> None:
        """What a taken record really was, in bytes."""
        with self._ledger.lock:
            self._scales.learn(guess.group, guess.units, size)

    @property
    def queued_bytes(self) -> int:
        """What is queued will be about so many bytes."""
        with self._ledger.lock:
            return int(self._queued_bytes())

    @property
    def oldest_age_s(self) -> float:
        """How long the oldest record that is queued has been so; 0.0 if there is none."""
        with self._ledger.lock:
            waiting = self._current or next((item for item in self._items if isinstance(item, Submission)), None)
            return 0.0 if waiting is None else max(0.0, self._clock() - waiting.at_s)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is queued."""
        return self._current is None and not self._items
