"""What a sender says of each sink."""

from dataclasses import dataclass

from uploader.delivery.parcels import Parcel


@dataclass
class Tally:
    """What a sink has done so far; `SinkStats` says what each number is."""

    stored_batches: int = 0
    stored_records: int = 0
    rejected_records: int = 0
    resumed_batches: int = 0
    resumed_records: int = 0
    sent_bytes: int = 0
    retries: int = 0
    refusals: int = 0
    dropped_records: int = 0

    def count_stored(self, parcel: Parcel) -> None:
        """The sink has a batch."""
        self.sent_bytes += parcel.size
        if parcel.resumed:
            self.resumed_batches += 1
            self.resumed_records += parcel.num_records
        else:
            self.stored_batches += 1
            self.stored_records += parcel.num_records

    def count_rejected(self, parcel: Parcel) -> None:
        """The sink will never take a batch."""
        if not parcel.resumed:
            self.rejected_records += parcel.num_records

    def count_dropped(self, parcel: Parcel) -> None:
        """Nobody keeps a batch for the sink any more."""
        if not parcel.resumed:
            self.dropped_records += parcel.num_records


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkStats:
    """One sink at one moment.

    Attributes:
        name: the sink's name.
        waiting_batches: what waits for it, parts of divided batches counted each.
        in_flight_batches: what it is being given.
        stored_batches: what it has of this run.
        stored_records: the records in those.
        rejected_records: the records of this run that it will never take.
        resumed_batches: what it has got of earlier runs.
        resumed_records: the records in those.
        sent_bytes: the compressed bytes of all that it has.
        retries: attempts that failed and were, or will be, repeated; refusals not counted.
        refusals: attempts that were refused before any work (429, 503).
        dropped_records: the records of this run that it will not get: it failed, and there was no room for them.
        concurrency: how many requests may be under way now.
        paused_until: when it is tried again, in seconds since the epoch; None while it is not paused.
        paused_reason: why it is paused; empty while it is not.
        stopped_reason: why it takes nothing any more; empty while it does.
    """

    name: str
    waiting_batches: int
    in_flight_batches: int
    stored_batches: int
    stored_records: int
    rejected_records: int
    resumed_batches: int
    resumed_records: int
    sent_bytes: int
    retries: int
    refusals: int
    concurrency: int
    paused_until: float | None
    paused_reason: str
    stopped_reason: str
    dropped_records: int = 0

    @property
    def stopped_text(self) -> str:
        """That it takes nothing any more, and why, in words; empty while it does."""
        return f"the sink {self.name} is stopped: {self.stopped_reason}" if self.stopped_reason else ""
