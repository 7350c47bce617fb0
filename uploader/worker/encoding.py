"""The encoder's thread: each record becomes a whole line, or is set aside.

What goes wrong with a record concerns this record alone. Whatever escapes, a record's own SystemExit even, ends in
`clean_up`, which sets the record aside before the work begins again; a line that was finished is handed over then.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from encoder.pacer import Pacer
from uploader.errors import RecordError, RecordFailure, TraceTooLargeError, clear_frames
from uploader.models import LineFormat
from uploader.records import record_pieces, whole_record
from uploader.worker.barriers import Barrier
from uploader.worker.events import Rejected, ThreadRestarted, WorkerEvent
from uploader.worker.handover import Handover, Line
from uploader.worker.intake import Entry, Intake
from uploader.worker.keeping import Keeper
from uploader.worker.ledger import Ledger
from uploader.worker.meters import Meter
from uploader.worker.release import let_go

UNWRITABLE: Final = "it cannot be written"
TOO_LONG: Final = "its line is longer than the service takes"
ESCAPED: Final = "a thread of the worker failed on it"

THREAD: Final = "uploader encoder"

_IDLE_S: Final = 1.0


class Encoding:
    """The work of the encoder's thread.

    Args:
        intake: where records come from.
        handover: where lines go.
        ledger: where records are counted.
        keeper: where records are set aside.
        tell: reports an event.
    """

    def __init__(
        self,
        intake: Intake,
        handover: Handover,
        ledger: Ledger,
        keeper: Keeper,
        tell: Callable[[WorkerEvent], object],
    ) -> None:
        self._intake = intake
        self._handover = handover
        self._ledger = ledger
        self._keeper = keeper
        self._tell = tell
        self._numbers = dict.fromkeys(LineFormat, 0)
        self._entry: Entry | None = None
        self._line: Line | None = None
        self._pacer = Pacer()
        self.meter = Meter()
        self.is_busy = False

    def work(self) -> None:
        """Encode until a last barrier comes."""
        self._pacer = Pacer()
        while True:
            if self._line is not None:
                self._hand_over()
            self.is_busy = False
            item = self._intake.take(_IDLE_S)
            self.is_busy = True
            if isinstance(item, Barrier):
                self._handover.put_barrier(item)
                if item.is_last:
                    break
            elif item is not None:
                self._entry = item
                self._encode(item)
                self._entry = None
            self._pacer.pause_if_due()

    def _encode(self, entry: Entry) -> None:
        number = self._numbers[entry.label] = self._numbers[entry.label] + 1
        try:
            pieces, size = self._whole(entry, number)
        except RecordError as error:
            self._set_aside(entry, UNWRITABLE, error)
        except TraceTooLargeError as error:
            self._set_aside(entry, TOO_LONG, error)
        else:
            self._entry, self._line = None, Line(entry.label, pieces, size, number)
            del pieces
            self._hand_over()
            self.meter.add(size)
            self._intake.learn(entry.estimate, size)
        let_go(entry.held, self._pacer.pause_if_due)

    def _whole(self, entry: Entry, number: int) -> tuple[list[bytes], int]:
        return whole_record(self._prepared(entry, number), number, pause=self._pacer.pause_if_due)

    def _prepared(self, entry: Entry, number: int) -> Any:
        if entry.prepare is None:
            return entry.held[0]
        try:
            return entry.prepare(entry.held[0])
        except Exception as error:
            raise RecordError(number, f"{type(error).__name__}: {error}") from error

    def _hand_over(self) -> None:
        line = self._line
        if line is not None:
            self._handover.put(line)
            self._line = None

    def _set_aside(self, entry: Entry, reason: str, error: RecordFailure) -> None:
        text = str(error)
        clear_frames(error)  # they hold the record
        self._entry = None
        if self._ledger.reject(1, reason):
            self._keeper.set_aside_line(entry.label, lambda: self._what_can_be_written(entry), text)
            self._tell(Rejected(1, reason, text))

    def _what_can_be_written(self, entry: Entry) -> Iterator[bytes]:
        """The record's pieces up to where it fails."""
        try:
            yield from record_pieces(self._prepared(entry, 0))
        except Exception:  # noqa: BLE001 - it has been said
            return

    def clean_up(self, error: BaseException) -> None:
        """Set aside the record on which something escaped."""
        self._tell(ThreadRestarted(THREAD, error))
        entry, self._entry = self._entry, None
        if entry is not None and self._ledger.reject(1, ESCAPED):
            text = f"{type(error).__name__}: {error}"
            self._tell(Rejected(1, ESCAPED, text))
            # Not encoded again: what escaped once may do so again.
            self._keeper.set_aside_line(entry.label, lambda: iter(()), text)
