"""What the sender reports goes into the ledger, to the hook, and to whoever waits for room."""

from collections.abc import Callable, Sequence

from uploader.models import UploadReceipt
from uploader.spool.batches import SpooledBatch
from uploader.worker.events import Divided, Rejected, Retrying, SinkPaused, SinkStopped, Stored, WorkerEvent
from uploader.worker.ledger import Ledger
from uploader.worker.meters import Meter


class Listener:
    """Listens to the sender, on its thread.

    Args:
        ledger: where records are counted.
        tell: reports an event.
        made_room: called when a batch was let go.
    """

    def __init__(self, ledger: Ledger, tell: Callable[[WorkerEvent], object], made_room: Callable[[], object]) -> None:
        self._ledger = ledger
        self._tell = tell
        self._made_room = made_room
        self.meter = Meter()

    def started(self, spooled: SpooledBatch, sink: str) -> None:
        """A sink is given a batch."""
        self._ledger.started(spooled)

    def stored(self, spooled: SpooledBatch, sink: str, receipt: UploadReceipt, last: bool) -> None:
        """A sink has a batch; with `last`, all have."""
        self._ledger.stored(spooled, last)
        self.meter.add(spooled.compressed_size)
        self._tell(Stored(spooled, sink, receipt, last))
        if last:
            self._made_room()

    def returned(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        """A sink does not have a batch, which waits again."""
        self._ledger.returned(spooled)

    def divided(self, spooled: SpooledBatch, parts: Sequence[SpooledBatch]) -> None:
        """Parts have taken a batch's place."""
        self._ledger.divided(spooled, parts)
        self._tell(Divided(spooled, tuple(parts)))

    def rejected(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        """A batch was set aside."""
        reason = str(getattr(error, "code", None) or type(error).__name__)
        records = self._ledger.set_aside(spooled, reason)
        if records:
            self._tell(Rejected(records, reason, str(error), sink))
        self._made_room()

    def dropped(self, spooled: SpooledBatch, sinks: str) -> None:
        """A batch was given up."""
        self._ledger.drop(spooled, f"there was no room to keep it for {sinks}")
        self._made_room()

    def retrying(self, sink: str, error: BaseException, delay_s: float) -> None:
        """An attempt failed, and is repeated no sooner than after a delay."""
        self._tell(Retrying(sink, error, delay_s))

    def paused(self, sink: str, error: BaseException) -> None:
        """A sink is down, and tried again."""
        self._tell(SinkPaused(sink, error))

    def stopped(self, sink: str, error: BaseException) -> None:
        """A sink takes nothing any more."""
        self._tell(SinkStopped(sink, error))
