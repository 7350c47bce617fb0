"""One batch on its way to all its sinks, and what each has made of it so far.

A batch leaves its folder once every sink has settled it: has it, or will never take it. It is divided for all of them
at once, when none has it under way, so that no sink gets both a batch and its parts.
"""

from dataclasses import dataclass, field
from typing import Protocol

from uploader.models import UploadReceipt
from uploader.spool.batches import Folder, SpooledBatch

MAX_EXTRA_REQUESTS = 1024
"""How many requests the division of one batch may cost; whatever part is refused after that is set aside whole."""


class DeliveryListener(Protocol):
    """Is told what becomes of batches, on the sender's thread; it must be quick.

    After `started` comes one of `stored`, `rejected` and `returned` for this batch and sink. Losses and stops are said
    aloud, once, by whoever listens; the sender itself warns of a sink that is down.
    """

    def started(self, spooled: SpooledBatch, sink: str) -> None:
        """A sink is given a batch."""

    def stored(self, spooled: SpooledBatch, sink: str, receipt: UploadReceipt, last: bool) -> None:
        """A sink has a batch; with `last`, all have, and the batch has left its folder."""

    def returned(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        """A sink does not have a batch, which waits again."""

    def divided(self, spooled: SpooledBatch, parts: list[SpooledBatch]) -> None:
        """A batch that waited was replaced by its parts, which wait."""

    def rejected(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        """A batch was set aside, and has left its folder: from under way, or from waiting after `returned`."""

    def dropped(self, spooled: SpooledBatch, sinks: str) -> None:
        """A batch was given up, and has left its folder: sinks that fail lack it, and there was no room to keep it."""

    def retrying(self, sink: str, error: BaseException, delay_s: float) -> None:
        """An attempt failed, and is repeated no sooner than after a delay."""

    def paused(self, sink: str, error: BaseException) -> None:
        """A sink has failed several times in a row; it is tried again for as long as the sender lives."""

    def stopped(self, sink: str, error: BaseException) -> None:
        """A sink takes nothing any more: its credentials or its account are refused."""


@dataclass
class Origin:
    """The batch that was logged, shared by the parts that it was divided into.

    Attributes:
        extra_requests: what its division has cost so far.
    """

    extra_requests: int = 0

    def may_divide(self) -> bool:
        """Whether its division may cost two more, which are then counted."""
        if self.extra_requests + 2 > MAX_EXTRA_REQUESTS:
            return False
        self.extra_requests += 2
        return True

    def give_back(self) -> None:
        """It was not divided after all."""
        self.extra_requests -= 2


@dataclass(eq=False)
class Parcel:
    """A batch on its way.

    Attributes:
        folder: keeps it.
        spooled: the batch.
        key: its place in the order of starting.
        listener: is told what becomes of it.
        waiting: the sinks that have not settled it, by name.
        has_others: whether it also waits for destinations that no sink here has.
        origin: shared with other parts of the same batch.
        resumed: whether an earlier run logged it.
        under_way: the sinks that are being given it now.
        rejections: why sinks will never take it.
        division: why it is to be divided, by the sink that asked; None when it is not.
    """

    folder: Folder
    spooled: SpooledBatch
    key: tuple[int, ...]
    listener: DeliveryListener
    waiting: set[str]
    has_others: bool = False
    origin: Origin = field(default_factory=Origin)
    resumed: bool = False
    under_way: set[str] = field(default_factory=set)
    rejections: dict[str, BaseException] = field(default_factory=dict)
    division: tuple[str, BaseException] | None = None

    @property
    def num_records(self) -> int:
        """How many records it holds."""
        return self.spooled.batch.num_lines

    @property
    def size(self) -> int:
        """The bytes that travel."""
        return self.spooled.compressed_size

    def parts(self, spooled: list[SpooledBatch]) -> list["Parcel"]:
        """The parcels that take this one's place, in its order; each may be settled by other sinks than the next."""
        return [
            Parcel(
                folder=self.folder,
                spooled=part,
                key=(*self.key, number),
                listener=self.listener,
                waiting=set(self.waiting),
                has_others=self.has_others,
                origin=self.origin,
                resumed=self.resumed,
                rejections=dict(self.rejections),
            )
            for number, part in enumerate(spooled)
        ]
