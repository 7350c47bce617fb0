"""Metrics on disk: one JSON object a line, appended, in `<spool>/<run>/metrics.jsonl`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE


class MetricsLog:
    """A file of metrics, private to its user.

    Attributes:
        path: where it is; it is made with the first row.
        rows: how many were appended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows at the end, each whole or not at all, durably.

        Raises:
            OSError: they cannot be written.
            TypeError: a row cannot be written as JSON.
        """
        if not rows:
            return
        lines = b"".join(orjson.dumps(row, option=_OPTIONS) for row in rows)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            before = os.fstat(descriptor).st_size
            if os.write(descriptor, lines) != len(lines):  # the disk is full
                os.ftruncate(descriptor, before)
                raise OSError("the disk has no room for a row of metrics")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.rows += len(rows)
