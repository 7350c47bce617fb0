"""What a sender says of each sink."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from uploader.delivery.parcels import Parcel


@dataclass
class _Figures:
    """`SinkStats` says what each number is."""

    waiting_batches: int = 0
    waiting_records: int = 0
    in_flight_batches: int = 0
    in_flight_records: int = 0
    stored_batches: int = 0
    stored_records: int = 0
    rejected_records: int = 0
    dropped_records: int = 0
    resumed_batches: int = 0
    resumed_records: int = 0
    sent_bytes: int = 0


class Tally:
    """Where each batch for a sink is: in one state at every moment, so that the records in all states add up.

    It moves from one state to the next under a lock, which nobody holds while waiting. The lock is reentrant: a signal
    handler may ask for the figures. What is reported of a batch that is settled changes nothing.

    Attributes:
        retries: see `SinkStats`.
        refusals: likewise.
    """

    def __init__(self) -> None:
        self.retries = self.refusals = 0
        self._lock = threading.RLock()
        self._figures = _Figures()
        self._unsettled: dict[Parcel, bool] = {}  # and whether it is in flight

    def expect(self, parcel: Parcel) -> None:
        """A batch is for the sink, and waits."""
        with self._lock:
            self._enter(parcel, in_flight=False)

    def start(self, parcel: Parcel) -> None:
        """The sink is being given a batch."""
        with self._lock:
            if self._leave(parcel):
                self._enter(parcel, in_flight=True)

    def stop(self, parcel: Parcel) -> None:
        """The sink is not being given a batch any more; unless that settled it, it waits again."""
        with self._lock:
            if self._leave(parcel):
                self._enter(parcel, in_flight=False)

    def divide(self, parcel: Parcel, parts: Sequence[Parcel]) -> None:
        """Parts of a batch wait in its place: they hold the same records."""
        with self._lock:
            if self._leave(parcel):
                for part in parts:
                    self._enter(part, in_flight=False)

    def store(self, parcel: Parcel) -> None:
        """The sink has a batch."""
        with self._lock:
            if not self._leave(parcel):
                return
            figures = self._figures
            figures.sent_bytes += parcel.size
            if parcel.resumed:
                figures.resumed_batches += 1
                figures.resumed_records += parcel.num_records
            else:
                figures.stored_batches += 1
                figures.stored_records += parcel.num_records

    def reject(self, parcel: Parcel) -> None:
        """The sink will never take a batch, or it is damaged."""
        with self._lock:
            if self._leave(parcel):
                self._figures.rejected_records += _own_records(parcel)

    def drop(self, parcel: Parcel) -> None:
        """Nobody keeps a batch for the sink any more."""
        with self._lock:
            if self._leave(parcel):
                self._figures.dropped_records += _own_records(parcel)

    def figures(self) -> dict[str, int]:
        """All numbers, of one moment, by the names of `SinkStats`; from any thread."""
        with self._lock:
            return {**vars(self._figures), "retries": self.retries, "refusals": self.refusals}

    def _enter(self, parcel: Parcel, *, in_flight: bool) -> None:
        self._unsettled[parcel] = in_flight
        self._add(in_flight, 1, _own_records(parcel))

    def _leave(self, parcel: Parcel) -> bool:
        """Take a batch out of the state that it is in; whether it is in one."""
        in_flight = self._unsettled.pop(parcel, None)
        if in_flight is None:
            return False
        self._add(in_flight, -1, -_own_records(parcel))
        return True

    def _add(self, in_flight: bool, batches: int, records: int) -> None:
        if in_flight:
            self._figures.in_flight_batches += batches
            self._figures.in_flight_records += records
        else:
            self._figures.waiting_batches += batches
            self._figures.waiting_records += records


def _own_records(parcel: Parcel) -> int:
    """How many records of this run a batch holds."""
    return 0 if parcel.resumed else parcel.num_records


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkStats:
    """One sink at one moment.

    Each record of this run that is sealed for the sink is in one of five states: it waits, is in flight, stored,
    rejected or dropped.

    Attributes:
        name: the sink's name.
        waiting_batches: what waits for it, of this run and earlier ones, parts of divided batches counted each.
        waiting_records: the records of this run in those; at the end, what it did not get.
        in_flight_batches: what it is being given.
        in_flight_records: the records of this run in those.
        stored_batches: what it has of this run.
        stored_records: the records in those.
        rejected_records: the records of this run that it will never take.
        dropped_records: the records of this run that it will not get: it failed, and there was no room for them.
        resumed_batches: what it has got of earlier runs.
        resumed_records: the records in those.
        sent_bytes: the compressed bytes of all that it has.
        retries: attempts that failed and were, or will be, repeated; refusals not counted.
        refusals: attempts that were refused before any work (429, 503).
        concurrency: how many requests may be under way now.
        paused_until: when it is tried again, in seconds since the epoch; None while it is not paused.
        paused_reason: why it is paused; empty while it is not.
        stopped_reason: why it takes nothing any more; empty while it does.
    """

    name: str
    waiting_batches: int = 0
    waiting_records: int = 0
    in_flight_batches: int = 0
    in_flight_records: int = 0
    stored_batches: int = 0
    stored_records: int = 0
    rejected_records: int = 0
    dropped_records: int = 0
    resumed_batches: int = 0
    resumed_records: int = 0
    sent_bytes: int = 0
    retries: int = 0
    refusals: int = 0
    concurrency: int = 0
    paused_until: float | None = None
    paused_reason: str = ""
    stopped_reason: str = ""

    @property
    def total_records(self) -> int:
        """The sum of the five states: all records of this run that were sealed for the sink."""
        settled = self.stored_records + self.rejected_records + self.dropped_records
        return self.waiting_records + self.in_flight_records + settled

    @property
    def stopped_text(self) -> str:
        """That it takes nothing any more, and why, in words; empty while it does."""
        return f"the sink {self.name} is stopped: {self.stopped_reason}" if self.stopped_reason else ""
