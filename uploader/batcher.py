"""One item after another goes into the open batch: numbered, made whole, sealed when the next does not fit.

A batcher belongs to one thread at a time and paces itself: a thread that handles thousands of short lines would
otherwise keep the GIL from an event loop for as long as the interpreter lets it.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from encoder.pacer import Pacer
from uploader.sealing import SealedBatch, Sealer

Whole: TypeAlias = Callable[[Any, int], tuple[list[bytes], int] | None]
"""Makes an item of a given line number whole: its pieces and their size, or None for one that is left out."""


class StoppedWork(BaseException):
    """Ends the work of a thread whose generator is being closed."""


class Batcher:
    """Numbers items, makes them whole and feeds the sealer.

    Args:
        sealer: holds the open batch.
        whole: makes an item whole.
        pacer: gives the GIL away between items.
    """

    def __init__(self, sealer: Sealer, whole: Whole, pacer: Pacer) -> None:
        self._sealer = sealer
        self._whole = whole
        self._line_number = 0
        self._stopped = False
        self._pacer = pacer

    def stop(self) -> None:
        """From any thread: end the work at the next chunk or item."""
        self._stopped = True

    def push(self, item: object) -> SealedBatch | None:
        """Take an item into the open batch; the batch before it, when the item did not fit."""
        if self._stopped:
            raise StoppedWork
        self._pacer.pause_if_due()
        self._line_number += 1
        whole = self._whole(item, self._line_number)
        if whole is None:
            return None
        pieces, size = whole
        sealer = self._sealer
        sealed = None if sealer.fits(size) else sealer.seal()
        if sealer.add(pieces, size, self._line_number):
            for _ in sealer.work():
                if self._stopped:
                    raise StoppedWork
            self._pacer.restart()  # the GIL was free for most of this
        return sealed

    def push_group(self, items: Iterable[object]) -> tuple[list[SealedBatch], Exception | None]:
        """Take several items; the batches they closed, and what went wrong after those."""
        batches: list[SealedBatch] = []
        try:
            for item in items:
                sealed = self.push(item)
                if sealed is not None:  # a comprehension would lose the batches before a failure
                    batches.append(sealed)
        except Exception as error:  # noqa: BLE001 - raised by the caller, once it has given the batches away
            return batches, error
        return batches, None

    def finish(self) -> SealedBatch | None:
        """The last batch, if anything is in it."""
        return self._sealer.seal() if self._sealer.num_lines else None
