"""The files of one step, kind and subset: `traces.jsonl`, `traces_001.jsonl`, `traces_002.jsonl`, each up to a size."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from uploader.monitors.appending import AppendedFile
from uploader.monitors.codecs import Codec
from uploader.monitors.data import Where

ROLLOUTS: Final = "rollouts"

_NAME: Final = re.compile(r"traces(?:_(?P<number>\d{3,}))?\.jsonl(?P<suffix>\.\w+)?")


def folder_of(root: Path, where: Where) -> Path:
    """The folder of what belongs there."""
    return root / ROLLOUTS / f"step_{where.step}" / where.kind / where.subset


def chunk_name(number: int) -> str:
    """The name of a chunk, but for the suffix of its compression; the first one's is 0."""
    return f"traces_{number:03}.jsonl" if number else "traces.jsonl"


def last_chunks(folder: Path) -> dict[str, int]:
    """The number of the last chunk in a folder, by the suffix of its compression.

    Raises:
        OSError: the folder is there, and cannot be read.
    """
    last: dict[str, int] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            if (found := _NAME.fullmatch(name)) is not None:
                suffix = found["suffix"] or ""
                last[suffix] = max(last.get(suffix, 0), int(found["number"] or 0))
    return last


class Chunks:
    """Lines are appended to the last chunk. The line that takes it to its size ends it.

    Args:
        folder: of the chunks.
        codec: how lines are written.
        chunk_bytes: how large a chunk's file becomes; None for one chunk of any size.
        retire: makes a chunk safe that has its size, and closes it.
    """

    def __init__(
        self, folder: Path, codec: Codec, chunk_bytes: int | None, retire: Callable[[AppendedFile], object]
    ) -> None:
        self._folder = folder
        self._codec = codec
        self._chunk_bytes = chunk_bytes
        self._retire = retire
        self._file: AppendedFile | None = None
        self._number = 0

    def current(self) -> AppendedFile:
        """The file that the next line goes to, open.

        Raises:
            OSError: there is none to be had.
        """
        if self._file is not None and (self._file.is_torn or not self._file.is_in_place):
            self._file.close()
            self._file = None
        if self._file is None:
            self._number = last_chunks(self._folder).get(self._codec.suffix, 0)
            self._file = self._open()
        while self._file.is_damaged or self._is_full(self._file):
            self._retire(self._file)
            self._file = None
            self._number += 1
            self._file = self._open()
        return self._file

    def _is_full(self, file: AppendedFile) -> bool:
        return self._chunk_bytes is not None and file.size >= self._chunk_bytes

    def _open(self) -> AppendedFile:
        return AppendedFile(self._folder / (chunk_name(self._number) + self._codec.suffix), self._codec)

    def take(self) -> AppendedFile | None:
        """The open file, if there is one, which is not held here any more."""
        file, self._file = self._file, None
        return file

    @property
    def file(self) -> AppendedFile | None:
        """The open file, if there is one."""
        return self._file
