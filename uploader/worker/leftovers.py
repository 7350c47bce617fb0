"""What earlier runs left in the spool is sent by this one, after its own."""

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Final

from uploader.errors import SpoolError
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker.events import Resumed, WorkerEvent
from uploader.worker.keeping import problems_of

logger = logging.getLogger(__name__)

THREAD: Final = "uploader resume"


class Leftovers:
    """Looks once for folders of earlier runs, and has their batches sent. It does its work on a thread of its own.

    Args:
        find: opens the folders, one after the other.
        adopt: has a batch sent; says whether it is new.
        tell: reports an event.
        on_damage: called with what was found damaged.

    Attributes:
        folders: those that were opened.
    """

    def __init__(
        self,
        find: Callable[[], Iterable[Folder]],
        adopt: Callable[[Folder, SpooledBatch], bool],
        tell: Callable[[WorkerEvent], object],
        on_damage: Callable[[Exception], object],
    ) -> None:
        self._find = find
        self._adopt = adopt
        self._tell = tell
        self._on_damage = on_damage
        self._changes = threading.Lock()
        self._closed = False
        self.folders: list[Folder] = []

    def work(self) -> None:
        """Find all folders."""
        for folder in self._find():
            with self._changes:
                if not self._closed:
                    self.folders.append(folder)
            if self._closed:
                folder.close()
                break
            self.take_in(folder)

    def take_in(self, folder: Folder) -> None:
        """Have what a folder holds sent."""
        try:
            adopted = [batch for batch in folder.waiting() if self._adopt(folder, batch)]
        except SpoolError as error:
            logger.warning("What an earlier run left cannot be read: %s", error)
            return
        for problem in problems_of(folder):
            self._on_damage(problem)
        if adopted:
            self._tell(Resumed(folder.run_id, len(adopted), sum(batch.batch.num_lines for batch in adopted)))

    def clean_up(self, error: BaseException) -> None:
        """Look for no more folders: what escaped once would do so again."""
        self._find = tuple

    def close(self) -> None:
        """Let go of the folders."""
        with self._changes:
            self._closed = True
            folders, self.folders = self.folders, []
        for folder in folders:
            folder.close()
