"""Which batch may start, whose receipts are due, and when to stop: the window of an upload, as plain state.

Rules:
1. At most `max_in_flight` batches are under way.
2. Receipts are reported in batch order: one is due when every batch before it has ended.
3. The first failure stops everything: nothing starts any more, what is under way ends.
4. After that, what was committed is due all the same, also behind the batch that failed.
5. A source that fails is no such failure: what it gave before is sent, retries included, and then its error is raised.
6. A record that is set aside is no failure either: everything else is sent, and only then is its error raised.

The shells (`uploader/uploads.py`, `uploader/async_uploads.py`) start and wait; they decide nothing.
"""

from collections.abc import Iterator

from uploader.errors import RecordFailure, RecordsError, UploaderError, clear_frames
from uploader.flow import Delivery
from uploader.models import Batch, UploadReceipt


class Window:
    """The state of one upload.

    Attributes:
        receipts: what has been committed and taken out by `due`, in batch order.
        failure: what stopped it: the first failure in time.
    """

    def __init__(self, max_in_flight: int) -> None:
        self.receipts: list[UploadReceipt] = []
        self.failure: BaseException | None = None
        self._max_in_flight = max_in_flight
        self._set_aside: list[RecordFailure] = []
        self._in_order: dict[int, Delivery] = {}
        self._in_flight: set[int] = set()
        self._started = 0

    @property
    def has_room(self) -> bool:
        """Whether one more batch may start."""
        return self.failure is None and len(self._in_flight) < self._max_in_flight

    @property
    def in_flight(self) -> int:
        """How many batches are under way."""
        return len(self._in_flight)

    @property
    def interrupted(self) -> bool:
        """Whether the caller was interrupted or cancelled, rather than a batch refused."""
        return self.failure is not None and not isinstance(self.failure, Exception)

    def start(self, delivery: Delivery) -> int:
        """Note that a batch is under way, and give it a number."""
        number = self._started
        self._in_order[number] = delivery
        self._in_flight.add(number)
        self._started += 1
        return number

    def end(self, number: int, error: BaseException | None) -> None:
        """Note that a batch is no longer under way. Saying so twice does no harm."""
        self._in_flight.discard(number)
        if error is not None:
            clear_frames(error)
            self.stop(error)

    def stop(self, error: BaseException) -> None:
        """Start nothing any more, because of this. The first reason counts, but an interrupt is never lost."""
        if self.failure is None or (not self.interrupted and not isinstance(error, Exception)):
            self.failure = error

    def set_aside(self, error: RecordFailure) -> None:
        """Note that a record was left out, and that its error is still to be raised."""
        self._set_aside.append(error)

    def due(self, *, final: bool = False) -> Iterator[tuple[Batch, UploadReceipt]]:
        """Take out what is to be reported now, in order; each is taken once.

        Args:
            final: nothing is under way any more that could still end, so batches that never did are passed over.
        """
        for number in list(self._in_order):
            if number in self._in_flight and not final:
                return
            committed = self._in_order[number].committed
            while committed:
                batch, receipt = committed.pop(0)
                self.receipts.append(receipt)
                yield batch, receipt
            del self._in_order[number]

    def raise_failure(self) -> None:
        """Raise what stopped the upload, else what its records lacked, with the receipts that came all the same."""
        failure, self.failure = self.failure, None
        set_aside, self._set_aside = tuple(self._set_aside), []
        if failure is None and set_aside:
            failure, *others = set_aside
            failure = RecordsError(set_aside) if others else failure
        elif isinstance(failure, UploaderError):
            failure.record_errors = set_aside
        if failure is None:
            return
        if isinstance(failure, UploaderError):
            failure.receipts = tuple(self.receipts)
        try:
            raise failure
        finally:
            del failure  # or its traceback, this frame and it would hold each other, and the batches with them
