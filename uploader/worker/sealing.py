"""The compressor's thread: lines go into an open batch for each line format; closed ones are kept, and offered.

A batch closes by its size; or when nothing more is on its way and a short while has passed; or, where lines trickle in
without end, when it has been open for some seconds; or at a barrier.
"""

import time
from collections.abc import Callable
from typing import Final

from encoder.pacer import Pacer
from uploader.models import LineFormat
from uploader.sealing import SealedBatch, Sealer
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker.barriers import Barrier
from uploader.worker.encoding import ESCAPED
from uploader.worker.events import Rejected, Spooled, ThreadRestarted, WorkerEvent
from uploader.worker.handover import Handover, Line
from uploader.worker.keeping import Keeper
from uploader.worker.ledger import Ledger
from uploader.worker.meters import Meter

THREAD: Final = "uploader compressor"

LINGER_S: Final = 0.2
"""How long an open batch waits for more when nothing is on its way."""

MAX_OPEN_S: Final = 5.0
"""How long a batch stays open while lines keep coming: what is not sealed does not survive the process."""

_IDLE_S: Final = 1.0


class _Open:
    """An open batch, and how many records would be lost with it."""

    __slots__ = ("records", "sealer", "since_s")

    def __init__(self, sealer: Sealer, since_s: float) -> None:
        self.sealer = sealer
        self.since_s = since_s
        self.records = 0


class Sealing:
    """The work of the compressor's thread.

    Args:
        handover: where lines come from.
        ledger: where records are counted.
        keeper: keeps closed batches.
        offer: gives a kept batch to the sinks.
        tell: reports an event.
        more_comes: whether something is queued or being encoded.
        new_sealer: makes what holds one open batch after the other.
    """

    def __init__(
        self,
        handover: Handover,
        ledger: Ledger,
        keeper: Keeper,
        offer: Callable[[Folder, SpooledBatch], object],
        tell: Callable[[WorkerEvent], object],
        more_comes: Callable[[], bool],
        new_sealer: Callable[[], Sealer] = Sealer,
    ) -> None:
        self._handover = handover
        self._ledger = ledger
        self._keeper = keeper
        self._offer = offer
        self._tell = tell
        self._more_comes = more_comes
        self._new_sealer = new_sealer
        self._open: dict[LineFormat, _Open] = {}
        self._line: Line | None = None
        self._barrier: Barrier | None = None
        self._busy: LineFormat | None = None
        self._pacer = Pacer()
        self.meter = Meter()

    def work(self) -> None:
        """Compress until a last barrier comes."""
        self._pacer = Pacer()
        while True:
            if self._line is None and self._barrier is None:
                self._get()
            if self._line is not None:
                self._add(self._line)
            if self._barrier is not None and self._pass(self._barrier):
                break
            self._pacer.pause_if_due()

    def _get(self) -> None:
        item = self._handover.get(LINGER_S if self._open else _IDLE_S)
        if isinstance(item, Line):
            self._line = item
        elif item is not None:
            self._barrier = item
        elif not self._more_comes() and self._handover.is_empty:
            self._close_all()
        now_s = time.monotonic()
        for line_format, batch in list(self._open.items()):
            if now_s - batch.since_s >= MAX_OPEN_S:
                self._close(line_format)

    def _add(self, line: Line) -> None:
        line_format = line.line_format
        if line_format in self._open and not self._open[line_format].sealer.fits(line.size):
            self._close(line_format)
        batch = self._open.get(line_format)
        if batch is None:
            batch = self._open[line_format] = _Open(self._new_sealer(), time.monotonic())
        self._busy, self._line = line_format, None
        batch.records += 1
        if batch.sealer.add(line.pieces, line.size, line.number):
            line.pieces.clear()
            for _ in batch.sealer.work():
                pass
            self._pacer.restart()  # the GIL was free for most of this
        self._busy = None

    def _close_all(self) -> None:
        for line_format in list(self._open):
            self._close(line_format)

    def _close(self, line_format: LineFormat) -> None:
        """Seal the open batch, keep it, and offer it."""
        self._busy = line_format
        sealed = self._open[line_format].sealer.seal()
        self._keep(line_format, sealed)
        del self._open[line_format]
        self._busy = None

    def _keep(self, line_format: LineFormat, sealed: SealedBatch) -> None:
        kept = None if self._ledger.frozen else self._keeper.keep(line_format, sealed)
        if kept is None:
            return  # the end: what found no place is counted as dropped
        folder, spooled = kept
        if not self._ledger.spool(spooled):
            self._keeper.remove(folder, spooled)
            return
        self._open[line_format].records = 0
        self.meter.add(spooled.compressed_size)
        self._tell(Spooled(spooled))
        self._offer(folder, spooled)

    def _pass(self, barrier: Barrier) -> bool:
        """Make everything before a barrier safe; whether it was the last one."""
        self._close_all()
        is_safe = self._keeper.sync()
        self._barrier = None
        if barrier.is_last or not is_safe:
            barrier.let_through(failed=not is_safe)
        else:
            self._ledger.when_stored(lambda is_stored: barrier.let_through(failed=not is_stored))
        return barrier.is_last

    def clean_up(self, error: BaseException) -> None:
        """Give up the open batch on which something escaped: it is compressed in part, and its lines are let go."""
        self._tell(ThreadRestarted(THREAD, error))
        line_format, self._busy = self._busy, None
        batch = None if line_format is None else self._open.pop(line_format, None)
        if line_format is not None and batch is not None and batch.records:
            text = f"{type(error).__name__}: {error}"
            if self._ledger.reject(batch.records, ESCAPED):
                self._tell(Rejected(batch.records, ESCAPED, text))
                self._keeper.set_aside_line(line_format, iter(()), f"{batch.records} records: {text}")
