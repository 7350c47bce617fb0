"""The open files of all steps, kinds and subsets that are written now."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from uploader.monitors.appending import AppendedFile
from uploader.monitors.chunks import Chunks, folder_of
from uploader.monitors.codecs import Codec
from uploader.monitors.data import Where

MAX_OPEN: Final = 16
"""The most that are open at once."""


class Files:
    """Finds the file of a record; those that were not used for the longest time are closed.

    Args:
        root: the monitor's folder.
        codec: how lines are written.
        chunk_bytes: how large a file becomes; None for any size.
        note: is told the folders of all that are open, before another one is opened.
    """

    def __init__(
        self, root: Path, codec: Codec, chunk_bytes: int | None, note: Callable[[Iterable[Path]], object]
    ) -> None:
        self._root = root
        self._codec = codec
        self._chunk_bytes = chunk_bytes
        self._note = note
        self._open: dict[Where, Chunks] = {}
        self._unsafe: OSError | None = None

    def of(self, where: Where) -> AppendedFile:
        """The file that the next record is written to, open.

        Raises:
            OSError: there is none to be had.
        """
        chunks = self._open.pop(where, None) or self._new(where)
        self._open[where] = chunks  # the last one now
        return chunks.current()

    def _new(self, where: Where) -> Chunks:
        while len(self._open) >= MAX_OPEN:
            file = self._open.pop(next(iter(self._open))).take()
            if file is not None:
                self._retire(file)
        self._note(folder_of(self._root, each) for each in (*self._open, where))
        return Chunks(folder_of(self._root, where), self._codec, self._chunk_bytes, self._retire)

    def _retire(self, file: AppendedFile) -> None:
        """Make a file safe, and close it; where it cannot be made safe, the next `sync` says so."""
        try:
            file.sync()
        except OSError as error:
            self._unsafe = error
        file.close()

    def sync(self) -> None:
        """Return once all that was written would survive a loss of power.

        Raises:
            OSError: some of it would not. That is raised once: the system forgets what it could not write.
        """
        unsafe, self._unsafe = self._unsafe, None
        for chunks in self._open.values():
            try:
                if chunks.file is not None:
                    chunks.file.sync()
            except OSError as error:
                unsafe = error
        if unsafe is not None:
            raise unsafe

    def close(self) -> None:
        """Let go of all of them."""
        while self._open:
            file = self._open.popitem()[1].take()
            if file is not None:
                file.close()
