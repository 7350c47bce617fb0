"""How many records are in each state."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class EarlierCounts:
    """How many records that an earlier run left are in each state; see `Counts`."""

    spooled: int = 0
    in_flight: int = 0
    stored: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records are in each state, all of one moment.

    Attributes:
        submitted: all that `submit` was given.
        queued: waiting for the encoder.
        encoding: being encoded or compressed, in a batch that is not closed.
        spooled: in a sealed batch that waits to be sent.
        in_flight: in a batch that is being sent.
        stored: in a batch that every sink has acknowledged.
        dropped: given up: for want of room or time, or as no disk had what a sink had not taken at the end.
        rejected: set aside, because they cannot be written or were refused.
        dropped_reasons: the dropped ones by reason.
        rejected_reasons: the rejected ones by reason.
        earlier: records of earlier runs that are sent as well; they are in none of the other counts.
    """

    submitted: int = 0
    queued: int = 0
    encoding: int = 0
    spooled: int = 0
    in_flight: int = 0
    stored: int = 0
    dropped: int = 0
    rejected: int = 0
    dropped_reasons: Mapping[str, int] = field(default_factory=dict)
    rejected_reasons: Mapping[str, int] = field(default_factory=dict)
    earlier: EarlierCounts = field(default_factory=EarlierCounts)

    @property
    def total(self) -> int:
        """The sum of all states: always `submitted`."""
        kept = self.spooled + self.in_flight + self.stored
        return self.queued + self.encoding + kept + self.dropped + self.rejected
