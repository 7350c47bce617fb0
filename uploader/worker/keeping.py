"""Where sealed batches are kept: on disk, or in memory while the disk takes none."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Final

from uploader.errors import SpoolError, SpoolFullError
from uploader.models import LineFormat
from uploader.sealing import SealedBatch
from uploader.spool.aside import Aside, SetAside
from uploader.spool.batches import Folder, SpooledBatch

logger = logging.getLogger(__name__)

_LOOK_EVERY_S: Final = 0.1


class Keeper:
    """Keeps each batch somewhere, waiting for room where there is none.

    While the disk takes nothing, as many batches as may be in flight are kept in memory: so the pace of sending is that
    of sealing, and the queue is what fills.

    Args:
        open_folder: opens the folder on disk; None keeps everything in memory.
        memory: keeps a few batches.
        on_trouble: called with the disk's error for each batch that had to be kept in memory.
        on_damage: called with what else was found wrong on the disk.
        on_full: called while a batch waits for room in memory.

    Attributes:
        disk: the folder on disk; None until it is open, and where there is none.
        had_no_room: whether a batch waited for room in memory until the end.
    """

    def __init__(
        self,
        open_folder: Callable[[], Folder] | None,
        memory: Folder,
        on_trouble: Callable[[Exception], object],
        on_damage: Callable[[Exception], object],
        on_full: Callable[[], object] = lambda: None,
    ) -> None:
        self._open_folder = open_folder
        self._memory = memory
        self._on_trouble = on_trouble
        self._on_damage = on_damage
        self._on_full = on_full
        self._room = threading.Event()
        self._stopped = False
        self.disk: Folder | None = None
        self.had_no_room = False

    def open(self) -> None:
        """Open the folder on disk, unless it is open.

        Raises:
            SpoolError: that cannot be done.
        """
        if self.disk is None and self._open_folder is not None:
            self.disk = self._open_folder()

    def keep(self, line_format: LineFormat, sealed: SealedBatch) -> tuple[Folder, SpooledBatch] | None:
        """Keep a batch, and say where; None if there was no room for it before the end.

        Raises:
            Exception: no folder can take this batch, now or later.
        """
        if self.disk is not None:
            try:
                return self.disk, self.disk.add(line_format, sealed)
            except Exception as error:  # noqa: BLE001 - whatever the disk does, the batch is not lost for it
                self._on_trouble(error)
        while True:
            self._room.clear()
            try:
                return self._memory, self._memory.add(line_format, sealed)
            except SpoolFullError:
                if self._stopped:
                    self.had_no_room = True
                    return None
                self._on_full()
            self._room.wait(_LOOK_EVERY_S)
            kept = self._on_disk_again(line_format, sealed)
            if kept is not None:
                return kept

    def _on_disk_again(self, line_format: LineFormat, sealed: SealedBatch) -> tuple[Folder, SpooledBatch] | None:
        if self.disk is None:
            return None
        try:
            return self.disk, self.disk.add(line_format, sealed)
        except Exception:  # noqa: BLE001 - said already
            return None

    def in_memory(self) -> list[SpooledBatch]:
        """The batches that are kept in memory, each with who lacks it."""
        return self._memory.waiting()

    def made_room(self) -> None:
        """A batch was let go: from any thread."""
        self._room.set()

    def stop(self) -> None:
        """Wait for room no more."""
        self._stopped = True
        self._room.set()

    def set_aside_line(
        self, line_format: LineFormat, pieces: Callable[[], Iterator[bytes]], reason: str, *, num_lines: int = 1
    ) -> None:
        """Keep what there is of a record that never came into a batch, or of several: in memory if not on disk."""
        if self.disk is not None:
            try:
                self.disk.set_aside_line(line_format, pieces(), reason, num_lines=num_lines)
            except SpoolError as error:
                logger.warning("A record that was set aside is in memory alone: %s", error)
            else:
                return
        self._memory.set_aside_line(line_format, pieces(), reason, num_lines=num_lines)

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """What was set aside and is in memory alone."""
        aside: Aside | None = getattr(self._memory, "aside", None)
        return () if aside is None else aside.kept

    @staticmethod
    def remove(folder: Folder, spooled: SpooledBatch) -> None:
        """Let a batch go that came too late to be counted."""
        for destination in spooled.waiting_for:
            folder.acknowledge(spooled, destination.sink)

    def sync(self) -> bool:
        """Make what was kept on disk safe; whether that could be done."""
        try:
            if self.disk is not None:
                self.disk.sync()
        except SpoolError as error:
            self._on_trouble(error)
            return False
        self.report_damage()
        return True

    def report_damage(self) -> None:
        """Report what was found wrong since the last time."""
        if self.disk is not None:
            for problem in problems_of(self.disk):
                self._on_damage(problem)

    @property
    def used_bytes(self) -> int:
        """What is kept on disk and in memory, in compressed bytes."""
        return self._memory.used_bytes + (self.disk.used_bytes if self.disk is not None else 0)

    def close(self) -> None:
        """Let go of the folder on disk."""
        self.report_damage()
        try:
            if self.disk is not None:
                self.disk.close()
            self._memory.close()
        except SpoolError as error:
            logger.warning("The spool could not be closed: %s", error)


def problems_of(folder: Folder) -> list[SpoolError]:
    """What a folder found damaged, or could not do, since the last time."""
    take = getattr(folder, "take_problems", None)
    return [] if take is None else take()
