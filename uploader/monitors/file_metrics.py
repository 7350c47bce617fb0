"""Rows of metrics in `metrics.jsonl`, each written as it comes: the file can be tailed."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import orjson

from uploader.monitors.appending import AppendedFile
from uploader.monitors.codecs import PlainCodec
from uploader.monitors.disk import Disk
from uploader.runs.metrics import MetricsQueue, Row

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE

METRICS: Final = "metrics.jsonl"
THREAD: Final = "uploader file metrics"


class FileMetrics:
    """Appends rows, in a thread of its own.

    Args:
        root: the monitor's folder.
        disk: makes the attempts.
        hold: called before each; it raises where the folder cannot be used now.
    """

    def __init__(self, root: Path, disk: Disk, hold: Callable[[], None]) -> None:
        self.queue = MetricsQueue(self._deliver, THREAD)
        self._path = root / METRICS
        self._disk = disk
        self._hold = hold
        self._file: AppendedFile | None = None
        self._mutex = threading.Lock()  # a flush comes from another thread

    def _deliver(self, row: Row, stop: threading.Event) -> None:
        line = orjson.dumps(row, option=_OPTIONS)
        self._disk.until_done("writing metrics", lambda: self._append(line), stop)

    def _append(self, line: bytes) -> None:
        self._hold()
        with self._mutex:
            if self._file is not None and (self._file.is_torn or not self._file.is_in_place):
                self._let_go()
            if self._file is None:
                self._file = AppendedFile(self._path, PlainCodec())
            self._file.append([line])

    def sync(self) -> bool:
        """Make what was written safe; whether it is."""
        with self._mutex:
            try:
                if self._file is not None:
                    self._file.sync()
            except OSError:
                return False
        return True

    def close(self) -> None:
        """Let go of the file."""
        with self._mutex:
            self._let_go()

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def abandon(self) -> None:
        """Let go of the file in a forked child, where locks may be held for ever."""
        with suppress(Exception):
            self._let_go()
