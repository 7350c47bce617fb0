"""The compressor's thread: lines go into an open batch for each line format; closed ones are kept, and offered.

A batch closes by its size; or when nothing more is on its way and a short while has passed; or, where lines trickle in
without end, when it has been open for some seconds; or at a barrier.

Whatever escapes costs no line: those of the batch at hand are had back, and added anew one by one. The line on which
something escapes then is set aside, with its bytes; so are those of a batch that cannot be closed twice in a row.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Final

from encoder.pacer import Pacer
from uploader.models import LineFormat
from uploader.sealing import SealedBatch, Sealer
from uploader.spool.batches import Folder, SpooledBatch
from uploader.unpacking import unpacked
from uploader.worker.barriers import Barrier
from uploader.worker.encoding import ESCAPED
from uploader.worker.events import Rejected, Spooled, ThreadRestarted, WorkerEvent
from uploader.worker.handover import Handover, Line
from uploader.worker.keeping import Keeper
from uploader.worker.ledger import Ledger
from uploader.worker.meters import Meter
from uploader.worker.open_batch import OpenBatch

THREAD: Final = "uploader compressor"

LINGER_S: Final = 0.2
"""How long an open batch waits for more when nothing is on its way."""

MAX_OPEN_S: Final = 5.0
"""How long a batch stays open while lines keep coming: what is not sealed does not survive the process."""

_IDLE_S: Final = 1.0

_MAX_CLOSINGS: Final = 2
"""How often a batch is closed and kept in vain before its lines are set aside."""


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
        self._open: dict[LineFormat, OpenBatch] = {}
        self._again: deque[Line] = deque()
        """Lines of a batch on which something escaped; they go before all others, one by one."""
        self._line: Line | None = None
        self._barrier: Barrier | None = None
        self._sealed: tuple[LineFormat, SealedBatch] | None = None
        self._busy: LineFormat | None = None
        self._closings = dict.fromkeys(LineFormat, 0)
        """How often in a row closing or keeping a batch was begun and not ended."""
        self._pacer = Pacer()
        self.meter = Meter()

    def work(self) -> None:
        """Compress until a last barrier comes."""
        self._pacer = Pacer()
        while True:
            if self._sealed is not None:
                self._keep(*self._sealed)
            while self._again:
                self._add(self._again[0], alone=True)
            if self._line is None and self._barrier is None:
                self._get()
            if self._line is not None:
                self._add(self._line, alone=False)
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

    def _add(self, line: Line, *, alone: bool) -> None:
        """Add a line; alone, its bytes are hashed and compressed before the next ones."""
        line_format = line.line_format
        if line_format in self._open and not self._open[line_format].sealer.fits(line.size):
            self._close(line_format)
        batch = self._open.get(line_format)
        if batch is None:
            batch = self._open[line_format] = OpenBatch(self._new_sealer(), time.monotonic())
        batch.take(line, alone=alone)
        self._busy = line_format
        if alone:
            self._again.popleft()
        else:
            self._line = None
        if batch.work():
            self._pacer.restart()  # the GIL was free for most of this
        self._busy = None

    def _close_all(self) -> None:
        for line_format in list(self._open):
            self._close(line_format)

    def _close(self, line_format: LineFormat) -> None:
        """Seal the open batch, keep it, and offer it."""
        self._busy = line_format
        self._closings[line_format] += 1
        self._sealed = (line_format, self._open[line_format].sealer.seal())
        del self._open[line_format]
        self._busy = None
        self._keep(*self._sealed)

    def _keep(self, line_format: LineFormat, sealed: SealedBatch) -> None:
        kept = None if self._ledger.frozen else self._keeper.keep(line_format, sealed)
        is_counted = kept is not None and self._ledger.spool(kept[1])
        self._sealed, self._closings[line_format] = None, 0
        if kept is None:
            return  # the end: what found no place is counted as dropped
        folder, spooled = kept
        if not is_counted:
            self._keeper.remove(folder, spooled)
            return
        self.meter.add(spooled.compressed_size)
        try:
            self._tell(Spooled(spooled))
        finally:
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
        """Have the lines back that were being worked on, to be added anew; or set aside those that cannot be."""
        try:
            self._tell(ThreadRestarted(THREAD, error))
        finally:
            if self._sealed is not None:
                self._clean_up_sealed(*self._sealed, error)
            elif self._busy is not None:
                self._clean_up_open(self._busy, error)

    def _clean_up_sealed(self, line_format: LineFormat, sealed: SealedBatch, error: BaseException) -> None:
        if self._closings[line_format] < _MAX_CLOSINGS:
            self._closings[line_format] += 1
            return
        self._sealed, self._closings[line_format] = None, 0
        is_compressed = sealed.content_encoding is not None
        pieces = partial(unpacked, sealed.pieces, compressed=is_compressed)
        self._set_aside(line_format, pieces, sealed.batch.num_lines, error)

    def _clean_up_open(self, line_format: LineFormat, error: BaseException) -> None:
        self._busy, batch = None, self._open.pop(line_format)
        try:
            lines = batch.lines(line_format)
        except Exception as damage:  # noqa: BLE001 - whatever it is, only their number is known now
            self._set_aside(line_format, lambda: iter(()), batch.records, ValueError(f"{error!r}, then {damage!r}"))
            return
        given_up: list[Line] = []
        if batch.hand is not None:
            given_up = [lines.pop()] if batch.is_alone else []
        elif self._closings[line_format] >= _MAX_CLOSINGS:
            given_up, lines, self._closings[line_format] = lines, [], 0
        self._again.extendleft(reversed(lines))
        if given_up:
            pieces = partial(chain.from_iterable, [line.pieces for line in given_up])
            self._set_aside(line_format, pieces, len(given_up), error)

    def _set_aside(
        self, line_format: LineFormat, pieces: Callable[[], Iterator[bytes]], num_records: int, error: BaseException
    ) -> None:
        text = f"{type(error).__name__}: {error}"
        if self._ledger.reject(num_records, ESCAPED):
            self._tell(Rejected(num_records, ESCAPED, text))
            self._keeper.set_aside_line(line_format, pieces, text, num_lines=num_records)
