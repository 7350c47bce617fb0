"""What a folder knows of its batches without looking at the disk: which there are, and how much they hold."""

import threading
from dataclasses import dataclass
from pathlib import Path

from uploader.errors import SpoolError
from uploader.spool.batches import SpooledBatch
from uploader.spool.manifest import Manifest
from uploader.spool.names import BatchName


@dataclass(slots=True)
class Entry:
    """One batch.

    Attributes:
        name: its files.
        size: the compressed bytes that it counts for.
        manifest: what is known of it; None until somebody asks.
    """

    name: BatchName
    size: int
    manifest: Manifest | None = None


def stem_of(spooled: SpooledBatch) -> str:
    """What the names of a batch's files begin with."""
    return BatchName(spooled.seq, spooled.batch.digest, spooled.line_format).stem


class Index:
    """The batches of a folder. Every method is atomic, and none waits for a disk.

    Args:
        last_seq: the highest number that was given.
    """

    def __init__(self, last_seq: int) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._last_seq = last_seq
        self._unsynced: dict[Path, None] = {}
        self._problems: dict[str, SpoolError] = {}
        self.used_bytes = 0

    def next_seq(self) -> int:
        """A number that nothing in the folder has."""
        with self._lock:
            self._last_seq += 1
            return self._last_seq

    def reserve(self, size: int) -> None:
        """Count bytes that are about to be written; a negative number gives them back."""
        with self._lock:
            self.used_bytes += size

    def put(self, entry: Entry, unsynced: list[Path]) -> None:
        """A batch whose bytes are counted already, and its files that a loss of power could still take."""
        with self._lock:
            self._entries[entry.name.stem] = entry
            self._unsynced.update(dict.fromkeys(unsynced))

    def get(self, stem: str) -> Entry | None:
        """A batch."""
        return self._entries.get(stem)

    def remove(self, entry: Entry, files: list[Path]) -> None:
        """Forget a batch and its files."""
        with self._lock:
            if self._entries.pop(entry.name.stem, None) is not None:
                self.used_bytes -= entry.size
            for path in files:
                self._unsynced.pop(path, None)

    def entries(self) -> list[Entry]:
        """All batches in order."""
        with self._lock:
            return sorted(self._entries.values(), key=lambda entry: entry.name.seq)

    def note_unsynced(self, paths: list[Path]) -> None:
        """Files that a loss of power could take."""
        with self._lock:
            self._unsynced.update(dict.fromkeys(paths))

    def take_unsynced(self) -> list[Path]:
        """The files that a loss of power could take; from now on they are the caller's to think of."""
        with self._lock:
            paths, self._unsynced = list(self._unsynced), {}
            return paths

    def note_problem(self, problem: SpoolError) -> None:
        """Something to be reported, once until it is taken: a disk may fail in the same way for hours."""
        with self._lock:
            self._problems.setdefault(str(problem), problem)

    @property
    def has_problems(self) -> bool:
        """Whether there is something to be reported."""
        return bool(self._problems)

    def take_problems(self) -> list[SpoolError]:
        """What is to be reported and was not taken before."""
        with self._lock:
            problems, self._problems = list(self._problems.values()), {}
            return problems
