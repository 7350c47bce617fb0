"""The SQLite index: what is stored, where its bytes lie, and what is known of it.

Any thread may use it: each piece of work opens a connection of its own. Commits take turns, and each is on
the disk before `commit` returns (write-ahead log, synchronous FULL).
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from uploader.receiver import schema
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.summaries import EpisodeRow, TraceRow

_BUSY_TIMEOUT_S: Final = 60.0


class UploadRow(NamedTuple):
    """One row of `uploads`, in column order."""

    upload_id: str
    line_format: str
    schema_version: int
    context: str
    ingested_at: int
    size: int
    lines: int
    block_offsets: bytes


class Index:
    """The index of one data directory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._commit_lock = threading.Lock()
        # While one connection stays open, SQLite neither checkpoints nor removes the log when others close.
        self._keeper = self._open()
        self._keeper.execute("PRAGMA journal_mode = WAL").fetchone()
        self._keeper.executescript(schema.TABLES)

    def close(self) -> None:
        """Give the database back; the log is folded in."""
        self._keeper.close()

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """A connection for one piece of work on one thread."""
        with closing(self._open()) as connection:
            yield connection

    def line_format(self, upload_id: str) -> str | None:
        """The format under which an upload was committed, None when it never was."""
        with self.connect() as connection:
            return _line_format(connection, upload_id)

    @contextmanager
    def staging(self) -> Iterator["Staging"]:
        """A place for the rows of one upload; nothing of it is seen before it is committed."""
        with self.connect() as connection:
            connection.executescript(schema.STAGING)
            connection.execute("BEGIN")
            yield Staging(connection, self._commit_lock)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are all on the disk after the `with` block, or none if it raises."""
        with self._commit_lock, self.connect() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _open(self) -> sqlite3.Connection:
        # Used by one thread at a time; but the keeper may be closed by another one than opened it.
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        return connection


class Staging:
    """The rows of one upload that is being checked."""

    def __init__(self, connection: sqlite3.Connection, commit_lock: threading.Lock) -> None:
        self._connection = connection
        self._commit_lock = commit_lock

    def add_trace(self, row: TraceRow, where: str) -> None:
        """Add a trace.

        Raises:
            RequestRefusedError: `duplicate_trace_id`, when this upload already holds its id.
        """
        try:
            self._connection.execute(schema.STAGE_TRACE, row)
        except sqlite3.IntegrityError as error:
            raise RequestRefusedError(
                "duplicate_trace_id", f"{where}: trace id {row.trace_id!r} is there twice in this upload."
            ) from error

    def add_episode(self, row: EpisodeRow, where: str) -> None:
        """Add an episode.

        Raises:
            RequestRefusedError: `duplicate_episode_id`, when this upload already holds its id.
        """
        try:
            self._connection.execute(schema.STAGE_EPISODE, row)
        except sqlite3.IntegrityError as error:
            raise RequestRefusedError(
                "duplicate_episode_id",
                f"{where}: episode id {row.episode_id!r} is there twice in this upload.",
            ) from error

    def commit(self, row: UploadRow, publish_file: Callable[[], None]) -> str:
        """Make the upload visible, for good.

        Args:
            row: the upload.
            publish_file: puts the stored lines in their place, durably; called only for a new upload.

        Returns:
            The line format under which the upload is stored: another one than the row's, when the same bytes
            were committed meanwhile under another format.
        """
        connection = self._connection
        connection.execute("COMMIT")
        with self._commit_lock:
            stored = _line_format(connection, row.upload_id)
            if stored is not None:
                return stored
            # The file first: a crash in between leaves a file that no row names, which the next start
            # removes.
            publish_file()
            connection.execute("BEGIN IMMEDIATE")
            try:
                upload = connection.execute(schema.INSERT_UPLOAD, row).lastrowid
                values = {"upload": upload, "ingested_at": row.ingested_at}
                for statement in schema.PUBLISH:
                    connection.execute(statement, values if ":" in statement else ())
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        return row.line_format


def _line_format(connection: sqlite3.Connection, upload_id: str) -> str | None:
    found = connection.execute("SELECT line_format FROM uploads WHERE upload_id = ?", (upload_id,)).fetchone()
    return None if found is None else str(found[0])
