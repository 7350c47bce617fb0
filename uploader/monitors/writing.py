"""The thread that writes records: each is encoded piece by piece into its file, and let go.

What goes wrong with a record concerns this record alone: it is counted as rejected, and leaves no byte behind. What
goes wrong with the disk is tried again, record in hand, until it works; meanwhile the queue fills up to its bounds.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from encoder.pacer import Pacer
from uploader.errors import RecordError, clear_frames
from uploader.monitors.disk import Disk
from uploader.monitors.failures import Failures
from uploader.monitors.open_files import Files
from uploader.pumps import StoppedError
from uploader.records import line_pieces
from uploader.worker.barriers import Barrier
from uploader.worker.encoding import ESCAPED, UNWRITABLE
from uploader.worker.intake import Entry, Intake
from uploader.worker.ledger import Ledger
from uploader.worker.meters import Meter
from uploader.worker.release import let_go
from uploader.worker.supervision import Supervised

THREAD: Final = "uploader file"

_IDLE_S: Final = 1.0


class Writing:
    """The work of the thread, and the thread.

    Args:
        intake: where records come from; each is labelled with where it belongs.
        ledger: where they are counted.
        files: where they go.
        disk: makes the attempts.
        hold: called before each; it raises where the folder cannot be used now.
        failures: what is told of records that cannot be written.

    Attributes:
        stopped: set when nothing is tried again any more.
        meter: the bytes written, before any compression.
    """

    def __init__(
        self, intake: Intake, ledger: Ledger, files: Files, disk: Disk, hold: Callable[[], None], failures: Failures
    ) -> None:
        self._intake = intake
        self._ledger = ledger
        self._files = files
        self._disk = disk
        self._hold = hold
        self._failures = failures
        self._number = 0
        self._entry: Entry | None = None
        self._pacer = Pacer()
        self.stopped = threading.Event()
        self.meter = Meter()
        self.thread = Supervised(THREAD, self._work, self._clean_up)

    def _work(self) -> None:
        self._pacer = Pacer()
        while True:
            item = self._intake.take(_IDLE_S)
            if isinstance(item, Barrier):
                self._pass(item)
                if item.is_last:
                    break
            elif item is not None:
                self._entry = item
                self._write(item)
                self._entry = None
            self._pacer.pause_if_due()
        self._files.close()

    def _write(self, entry: Entry) -> None:
        self._number += 1
        try:
            size = self._disk.until_done("writing records", lambda: self._append(entry), self.stopped)
        except StoppedError:
            return  # it is counted with what there was no time for
        except RecordError as error:
            self._reject(UNWRITABLE, error)
        else:
            self._ledger.written(1)
            self.meter.add(size)
            self._intake.learn(entry.estimate, size)
        let_go(entry.held, self._pacer.pause_if_due)

    def _append(self, entry: Entry) -> int:
        self._hold()
        pieces = line_pieces(entry.held[0], self._number, self._pacer.pause_if_due)
        return self._files.of(entry.label).append(pieces)

    def _reject(self, reason: str, error: BaseException) -> None:
        if self._ledger.reject(1, reason):
            self._failures.note("writing a record", error)
        clear_frames(error)  # they hold the record

    def _pass(self, barrier: Barrier) -> None:
        """Make everything before a barrier safe."""
        try:
            self._files.sync()
        except OSError as error:
            # Not tried again: the system has given up what it could not write, and the next attempt would seem to work.
            self._failures.note("forcing records to disk", error)
            barrier.let_through(failed=True)
        else:
            barrier.let_through()

    def _clean_up(self, error: BaseException) -> None:
        """Give up the record on which something escaped."""
        entry, self._entry = self._entry, None
        if entry is not None:
            self._reject(ESCAPED, error)

    def abandon(self) -> None:
        """Let go of the files in a forked child."""
        with suppress(Exception):
            self._files.close()
