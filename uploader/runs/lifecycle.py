"""Where a run is known, here alone or on the platform: so where its metrics go, and who is told of its end."""

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from uploader.errors import APIError
from uploader.pumps import StoppedError
from uploader.runs.background import within
from uploader.runs.courier import ACCOUNT_ERRORS, Courier
from uploader.runs.endings import Ending
from uploader.runs.metrics import Row, plain
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.platform import Opened
from uploader.runs.untold import Note

logger = logging.getLogger(__name__)

_DISK_S = 0.05
"""How long a disk may take at least."""

_NOTE_S = 0.2
"""How long it may take for the run's end."""

_SUMMARY: Final = "summary/"
"""Stands before the names of a training run's results."""

NO_PLACE: Final = "a run that no platform knows keeps its metrics and its summary in the spool, and it has none"


class Lifecycle(Protocol):
    """Knows a run.

    Attributes:
        opened: its id, name and address.
        is_local: whether it is known on this machine alone.
        no_place: why there is no place for metrics; empty if there is one.
        kept_metrics: rows of metrics on disk that the platform is still to be told.
        has_untold: whether there are any, or the run's end.
    """

    opened: Opened
    is_local: bool
    no_place: str
    kept_metrics: int
    has_untold: bool

    def deliver(self, row: Row, stop: threading.Event) -> None:
        """Bring one row of metrics to its place.

        Raises:
            StoppedError: the event was set first.
            Exception: it cannot be brought there, nor later.
        """

    def last_row(self, ending: Ending) -> Row:
        """What is to be delivered as the last row of metrics, for want of another place; empty for nothing."""

    def keep(self, rows: Sequence[Row]) -> bool:
        """Keep rows that were not delivered on disk; whether that could be done."""

    def close(self, ending: Ending, timeout_s: float) -> str | None:
        """Tell of the run's end; what went wrong, if anything did."""

    def put_off(self, ending: Ending) -> None:
        """Keep the run's end on disk, to be told of later, where somebody is to be told."""

    def disown(self) -> None:
        """Tell nobody of the run's end: another process will, the one that this one was forked from."""


class LocalLifecycle:
    """A run that this machine alone knows.

    Args:
        opened: its id and name.
        log: where metrics go; None if there is no disk to be used.
        is_disabled: whether it is to do nothing, so that what is logged may be forgotten.
    """

    is_local = True
    kept_metrics = 0
    has_untold = False

    def __init__(self, opened: Opened, log: MetricsLog | None, *, is_disabled: bool = False) -> None:
        self.opened = opened
        self.no_place = "" if is_disabled or log is not None else NO_PLACE
        self._log = log
        self._owns = True

    def deliver(self, row: Row, stop: threading.Event) -> None:
        """Append the row to the file; a disabled run has none."""
        if self._log is not None:
            self._log.append([row])

    def last_row(self, ending: Ending) -> Row:
        """Nothing: the summary is added to the file when the run is closed."""
        return {}

    def keep(self, rows: Sequence[Row]) -> bool:
        """Append what was not delivered in time."""
        return _kept(self._log, rows)

    def close(self, ending: Ending, timeout_s: float) -> str | None:
        """Add the summary to the file."""
        if not ending.summary or not self._owns:
            return None
        if self._log is None:
            return f"its summary is lost: {self.no_place}" if self.no_place else None
        row = {"summary": ending.summary, "status": str(ending.status)}
        try:
            kept = within(max(timeout_s, _DISK_S), lambda stop: self.keep([row]), "uploader-run-close")
        except TimeoutError:
            kept = False
        return None if kept else "its summary could not be written to disk"

    def put_off(self, ending: Ending) -> None:
        """Nothing: nobody else is told."""

    def disown(self) -> None:
        """Leave the summary to the process that this one was forked from."""
        self._owns = False


class PlatformLifecycle:
    """A run that the platform knows.

    Args:
        opened: what it is there.
        kind: whether it trains or evaluates.
        courier: makes the requests.
        log: where metrics go that the platform does not take; None if there is no disk to be used.
        untold: where what it was not told goes, which `uploader spool resume` tells it; likewise.
    """

    is_local = False
    no_place = ""

    def __init__(
        self, opened: Opened, kind: str, courier: Courier, log: MetricsLog | None, untold: MetricsLog | None
    ) -> None:
        self.opened = opened
        self._kind = kind
        self._courier = courier
        self._log = log
        self._untold = untold
        self._newest: Row = {}
        self._hopeless = False
        self._owns = True
        self.kept_metrics = 0
        self.has_untold = False

    def deliver(self, row: Row, stop: threading.Event) -> None:
        """Post the row; the platform has no history of an evaluation's metrics, only the newest of each."""
        values = self._values(row)
        kept = False
        if not self._hopeless:
            try:
                self._courier.run(self._courier.platform.add_metrics(self._kind, self.opened.id, values), stop)
            except APIError as error:
                self._hopeless = isinstance(error, ACCOUNT_ERRORS)
                logger.warning("Run %s: a row of metrics was refused: %s", self.opened.id, error)
                kept = not self._hopeless and _kept(self._log, [row])
            else:
                return
        if not (kept or self._keep_notes([self._note(metrics=values)])):
            raise OSError("a row of metrics was refused, and there is no place on disk for it")

    def last_row(self, ending: Ending) -> Row:
        """The summary of a training run: the request that closes one has no field for it."""
        if self._kind == "eval" or not self._owns:
            return {}
        return {f"{_SUMMARY}{name}": value for name, value in ending.summary.items()}

    def keep(self, rows: Sequence[Row]) -> bool:
        """Keep what was not delivered in time, to be told later."""
        return self._keep_notes([self._note(metrics=self._values(row)) for row in rows])

    def close(self, ending: Ending, timeout_s: float) -> str | None:
        """Close the run on the platform, in a thread that is not waited for any longer than this."""
        if not self._owns:
            return None
        whole = self._whole(ending)
        flow = self._courier.platform.close(self._kind, self.opened.id, whole)
        try:
            within(timeout_s, lambda stop: self._courier.run(flow, stop), "uploader-run-close")
        except (TimeoutError, StoppedError):
            problem = "the platform did not answer in time"
        except APIError as error:
            problem = str(error)
        else:
            return None
        self.put_off(ending)
        return problem

    def put_off(self, ending: Ending) -> None:
        """Keep the run's end on disk, to be told of later, unless the disk hangs or another process owns the run."""
        if self._owns:
            note = self._note(ending=self._whole(ending))
            with suppress(TimeoutError):
                within(_NOTE_S, lambda stop: self._keep_notes([note]), "uploader-run-keep")

    def disown(self) -> None:
        """Leave closing the run to the process that this one was forked from."""
        self._owns = False

    def _values(self, row: Row) -> Row:
        if self._kind != "eval":
            return row
        # Without what says when they were logged.
        self._newest.update({name: value for name, value in row.items() if name not in ("step", "_timestamp")})
        return dict(self._newest)

    def _whole(self, ending: Ending) -> Ending:
        if self._kind != "eval":
            return ending
        return Ending(ending.status, {**self._newest, **ending.summary}, ending.error)

    def _note(self, *, metrics: Row | None = None, ending: Ending | None = None) -> Note:
        config = self._courier.platform.config
        return Note(config.base_url, config.team_id, self._kind, self.opened.id, metrics, ending)

    def _keep_notes(self, notes: Sequence[Note]) -> bool:
        is_kept = _kept(self._untold, [note.encode() for note in notes])
        if is_kept and notes:
            self.has_untold = True
            self.kept_metrics += sum(note.metrics is not None for note in notes)
        return is_kept


def _kept(log: MetricsLog | None, rows: Sequence[Row]) -> bool:
    if log is None:
        return not rows
    try:
        log.append([plain(row) for row in rows])
    except (OSError, TypeError) as error:
        logger.warning("Metrics could not be written to %s: %s", log.path, error)
        return False
    return True
