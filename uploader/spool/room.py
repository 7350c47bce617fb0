"""How much a spool may hold, over the folders of all runs, and how much of the disk it leaves free."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uploader.errors import SpoolFullError
from uploader.spool import files
from uploader.spool.names import Role, is_folder_name, parse_file

_LOOK_AGAIN_S: Final = 30.0
_LOOK_AGAIN_WHEN_FULL_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class SpoolLimits:
    """The bounds of a spool.

    Attributes:
        max_spool_bytes: the most compressed bytes that wait, over all runs; what was set aside is not counted.
        min_free_disk_bytes: how much of the disk is always left free.
    """

    max_spool_bytes: int = 50 * 10**9
    min_free_disk_bytes: int = 10**9


class Room:
    """Says whether there is room for one more batch.

    What other runs hold is looked up now and then, not each time; so several runs together may pass the bound a little.

    Args:
        folder: the run's folder; the others are beside it.
        limits: the bounds.
    """

    def __init__(self, folder: Path, limits: SpoolLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._others_bytes = 0
        self._looked_at: float | None = None

    def check(self, used_bytes: int, size: int) -> None:
        """Return if `size` more bytes have room beside the `used_bytes` of this run.

        Raises:
            SpoolFullError: they have none.
            OSError: the disk cannot be asked.
        """
        limit = self._limits.max_spool_bytes
        self._look(_LOOK_AGAIN_S)
        if used_bytes + self._others_bytes + size > limit:
            self._look(_LOOK_AGAIN_WHEN_FULL_S)
        waiting = used_bytes + self._others_bytes
        if waiting + size > limit:
            raise SpoolFullError(str(self._folder.parent), f"{waiting:,} of {limit:,} bytes wait: sending makes room")
        free = files.free_bytes(self._folder)
        if free - size < self._limits.min_free_disk_bytes:
            floor = self._limits.min_free_disk_bytes
            raise SpoolFullError(str(self._folder), f"the disk has {free:,} bytes, and {floor:,} are to stay free")

    def _look(self, max_age_s: float) -> None:
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at >= max_age_s:
            self._looked_at = now
            self._others_bytes = sum(_sizes(self._folder))


def _sizes(own: Path) -> Iterator[int]:
    """The sizes of the batches of all other runs; a folder that cannot be read holds none."""
    for name in files.list_folder(own.parent):
        if name == own.name or not is_folder_name(name):
            continue
        folder = own.parent / name
        try:
            for file in files.list_folder(folder):
                parsed = parse_file(file)
                if parsed is not None and parsed[1] is Role.DATA:
                    yield files.file_size(folder / file) or 0
        except OSError:
            continue
