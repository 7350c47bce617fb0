"""Where each record is: every one in exactly one state, and the states add up at every moment.

    submitted = queued + encoding + spooled + in_flight + stored + dropped + rejected

Rules:

1. A move takes records out of one state and puts them into another under one lock, which nobody holds while waiting
   for anything. The lock is reentrant, and what is done under it is additions, each complete in itself: a signal
   handler that logs while its own thread stands inside of a move neither waits for itself nor undoes anything.
2. The sealed batches are known one by one, and a report about one that is not known changes nothing. So what is
   reported twice is counted once.
3. What was left by an earlier run is sent as well, and counted apart.
4. A frozen ledger does not change: what a late thread does is not counted, and it is told so.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from uploader.spool.batches import SpooledBatch
from uploader.worker.counts import Counts, EarlierCounts
from uploader.worker.tracking import BatchKey, Tracking

NOTHING: Final[Mapping[BatchKey, str]] = MappingProxyType({})


class Ledger:
    """Keeps the counts. Any thread may call it; nothing here waits.

    Attributes:
        lock: what every move is made under; whoever needs several moves at once takes it around them.
        queued: see `Counts`.
        frozen: whether the counts are final.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.queued = 0
        self.frozen = False
        self._submitted = self._encoding = self._dropped = self._unwritable = 0
        self._tracking = Tracking()
        self._dropped_reasons: dict[str, int] = {}
        self._rejected_reasons: dict[str, int] = {}

    def admit(self, records: int) -> None:
        """Submitted, and queued."""
        with self.lock:
            self._submitted += records
            self.queued += records

    def refuse(self, records: int, reason: str) -> None:
        """Submitted, and dropped at once."""
        with self.lock:
            if not self.frozen:
                self._submitted += records
                self._drop(records, reason)

    def take(self) -> None:
        """One record goes from the queue to the encoder."""
        with self.lock:
            if not self.frozen:
                self.queued -= 1
                self._encoding += 1

    def reject(self, records: int, reason: str) -> bool:
        """Records that were being encoded are set aside; False if that is not counted any more."""
        with self.lock:
            if self.frozen:
                return False
            self._encoding -= records
            self._unwritable += records
            _add(self._rejected_reasons, reason, records)
            return True

    def spool(self, spooled: SpooledBatch) -> bool:
        """Records that were being encoded are in a sealed batch; False if that is not counted any more."""
        with self.lock:
            if self.frozen or not self._tracking.add(spooled, self._tracking.own):
                return False
            self._encoding -= spooled.batch.num_lines
            return True

    def written(self, records: int) -> None:
        """Records that were being encoded are where they belong, without a batch."""
        with self.lock:
            if not self.frozen:
                self._encoding -= records
                self._tracking.own.stored += records

    def adopt(self, spooled: SpooledBatch) -> bool:
        """A batch of an earlier run waits to be sent; False if it is known already, or nothing is sent any more."""
        with self.lock:
            return not self.frozen and self._tracking.add(spooled, self._tracking.earlier)

    def started(self, spooled: SpooledBatch) -> None:
        """A sink sends a batch."""
        with self.lock:
            if not self.frozen:
                self._tracking.start(spooled)

    def returned(self, spooled: SpooledBatch) -> None:
        """A sink sends a batch no more, and will again."""
        with self.lock:
            if not self.frozen:
                self._tracking.stop(spooled)

    def stored(self, spooled: SpooledBatch, last: bool) -> None:
        """A sink has a batch; if it was the last one, the records are stored."""
        with self.lock:
            if not self.frozen:
                (self._tracking.store if last else self._tracking.stop)(spooled)

    def set_aside(self, spooled: SpooledBatch, reason: str) -> int:
        """A batch is set aside; how many records that makes, of this run or an earlier one."""
        with self.lock:
            rejected = None if self.frozen else self._tracking.reject(spooled)
            if rejected is None:
                return 0
            records, tally = rejected
            if tally is self._tracking.own:
                _add(self._rejected_reasons, reason, records)
            return records

    def drop(self, spooled: SpooledBatch, reason: str) -> None:
        """A batch of this run is given up."""
        with self.lock:
            records = 0 if self.frozen else self._tracking.drop(spooled)
            if records:
                self._drop(records, reason)

    def divided(self, spooled: SpooledBatch, parts: Sequence[SpooledBatch]) -> None:
        """Parts have taken a batch's place: they hold the same records."""
        with self.lock:
            if not self.frozen:
                self._tracking.divide(spooled, parts)

    def when_stored(self, callback: Callable[[bool], object]) -> None:
        """Call back once every batch that is only in memory now is settled; at once if there is none.

        The callback runs under the lock, and must only say so to others; it is told whether it came to that.
        """
        with self.lock:
            self._tracking.watch(callback)

    def freeze(self, reason: str, unsent: Mapping[BatchKey, str] = NOTHING) -> Counts:
        """Count what is in no batch or on no disk as dropped, what is being sent as spooled; then change no more.

        Args:
            reason: why records are in no batch, or a batch was not sent.
            unsent: another reason for some of the batches.
        """
        with self.lock:
            if not self.frozen:
                self.frozen = True
                if rest := self.queued + self._encoding:
                    self._drop(rest, reason)
                self.queued = self._encoding = 0
                for key, records in self._tracking.give_up():
                    self._drop(records, unsent.get(key, reason))
            return self.counts()

    def dropped_reasons(self) -> dict[str, int]:
        """The dropped records by reason."""
        with self.lock:
            return dict(self._dropped_reasons)

    def counts(self) -> Counts:
        """All counts, of one moment."""
        with self.lock:
            own, earlier = self._tracking.own, self._tracking.earlier
            return Counts(
                submitted=self._submitted,
                queued=self.queued,
                encoding=self._encoding,
                spooled=own.spooled,
                in_flight=own.in_flight,
                stored=own.stored,
                dropped=self._dropped,
                rejected=own.rejected + self._unwritable,
                dropped_reasons=dict(self._dropped_reasons),
                rejected_reasons=dict(self._rejected_reasons),
                earlier=EarlierCounts(earlier.spooled, earlier.in_flight, earlier.stored, earlier.rejected),
            )

    def _drop(self, records: int, reason: str) -> None:
        self._dropped += records
        _add(self._dropped_reasons, reason, records)


def _add(reasons: dict[str, int], reason: str, records: int) -> None:
    reasons[reason] = reasons.get(reason, 0) + records
