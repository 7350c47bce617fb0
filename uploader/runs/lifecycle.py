"""Where a run is known, here alone or on the platform: so where its metrics go, and who is told of its end."""

import logging
import threading
from collections.abc import Sequence
from typing import Protocol

import httpx

from uploader.errors import APIError, ForbiddenError, PaymentRequiredError, UnauthorizedError
from uploader.flow import Flow
from uploader.pumps import ResultT, StoppedError, pump
from uploader.runs.background import blocking_transport, within
from uploader.runs.endings import Ending
from uploader.runs.metrics import Row, plain
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.platform import Opened, Platform
from uploader.runs.spec import RunSpec
from uploader.session import http_options

logger = logging.getLogger(__name__)

_DISK_S = 0.05
"""How long a disk may take at least."""

_HOPELESS = (UnauthorizedError, PaymentRequiredError, ForbiddenError)
"""What no later row would fare better with."""


class Lifecycle(Protocol):
    """Knows a run.

    Attributes:
        opened: its id, name and address.
        is_local: whether it is known on this machine alone.
    """

    opened: Opened
    is_local: bool

    def deliver(self, row: Row, stop: threading.Event) -> None:
        """Bring one row of metrics to its place.

        Raises:
            StoppedError: the event was set first.
            Exception: it cannot be brought there, nor later.
        """

    def keep(self, rows: Sequence[Row]) -> bool:
        """Keep rows that were not delivered on disk; whether that could be done."""

    def close(self, ending: Ending, timeout_s: float) -> str | None:
        """Tell of the run's end; what went wrong, if anything did."""

    def disown(self) -> None:
        """Tell nobody of the run's end: another process will, the one that this one was forked from."""


class LocalLifecycle:
    """A run that this machine alone knows.

    Args:
        opened: its id and name.
        log: where metrics go; None if there is no disk to be used.
    """

    is_local = True

    def __init__(self, opened: Opened, log: MetricsLog | None) -> None:
        self.opened = opened
        self._log = log
        self._owns = True

    def deliver(self, row: Row, stop: threading.Event) -> None:
        """Append the row to the file; without one it is forgotten."""
        if self._log is not None:
            self._log.append([row])

    def keep(self, rows: Sequence[Row]) -> bool:
        """Append what was not delivered in time."""
        return _kept(self._log, rows)

    def close(self, ending: Ending, timeout_s: float) -> str | None:
        """Add the summary to the file."""
        if self._log is None or not ending.summary or not self._owns:
            return None
        row = {"summary": ending.summary, "status": str(ending.status)}
        try:
            kept = within(max(timeout_s, _DISK_S), lambda stop: self.keep([row]), "uploader-run-close")
        except TimeoutError:
            kept = False
        return None if kept else "its summary could not be written to disk"

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
    """

    is_local = False

    def __init__(self, opened: Opened, kind: str, courier: "Courier", log: MetricsLog | None) -> None:
        self.opened = opened
        self._kind = kind
        self._courier = courier
        self._log = log
        self._newest: Row = {}
        self._hopeless = False
        self._owns = True

    def deliver(self, row: Row, stop: threading.Event) -> None:
        """Post the row; the platform has no history of an evaluation's metrics, only the newest of each."""
        values = row
        if self._kind == "eval":
            self._newest.update(_values(row))
            values = self._newest
        if not self._hopeless:
            try:
                self._courier.run(self._courier.platform.add_metrics(self._kind, self.opened.id, values), stop)
            except APIError as error:
                self._hopeless = isinstance(error, _HOPELESS)
                logger.warning("Run %s: a row of metrics was refused: %s", self.opened.id, error)
            else:
                return
        if not _kept(self._log, [row]):
            raise OSError("a row of metrics was refused, and there is no place on disk for it")

    def keep(self, rows: Sequence[Row]) -> bool:
        """Append what was not delivered in time."""
        return _kept(self._log, rows)

    def close(self, ending: Ending, timeout_s: float) -> str | None:
        """Close the run on the platform, in a thread that is not waited for any longer than this."""
        if not self._owns:
            return None
        if self._kind == "eval":
            ending = Ending(ending.status, {**self._newest, **ending.summary}, ending.error)
        flow = self._courier.platform.close(self._kind, self.opened.id, ending)
        try:
            within(timeout_s, lambda stop: self._courier.run(flow, stop), "uploader-run-close")
        except (TimeoutError, StoppedError):
            return "the platform did not answer in time"
        except APIError as error:
            return str(error)
        return None

    def disown(self) -> None:
        """Leave closing the run to the process that this one was forked from."""
        self._owns = False


class Courier:
    """Makes the requests of the platform's flows, each on the thread that asks.

    Args:
        platform: makes the flows.
        transport: instead of the network.
        timeout_s: for each step of an exchange.
    """

    def __init__(self, platform: Platform, transport: httpx.AsyncBaseTransport | None, timeout_s: float) -> None:
        self.platform = platform
        self._transport = blocking_transport(transport)
        self._timeout_s = timeout_s

    def run(self, flow: Flow[ResultT], stop: threading.Event) -> ResultT:
        """Make a flow's requests.

        Raises:
            StoppedError: the event was set between two requests.
            APIError: the flow's own.
        """
        # A client for each: rows come seconds apart, and a connection that was kept would be of no use after a fork.
        with httpx.Client(**http_options(self._timeout_s), transport=_Borrowed.of(self._transport)) as client:
            return pump(flow, client, stop)


class _Borrowed(httpx.BaseTransport):
    """A transport that is not closed with the client that uses it."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.handle_request = transport.handle_request  # type: ignore[method-assign]

    @classmethod
    def of(cls, transport: httpx.BaseTransport | None) -> httpx.BaseTransport | None:
        return None if transport is None else cls(transport)


def open_on_platform(courier: Courier, spec: RunSpec, timeout_s: float) -> Opened:
    """Open a run, within a limit of time.

    Raises:
        APIError: it was refused, or it is unknown whether it was opened.
        TimeoutError: it was not opened in time.
    """
    flow = courier.platform.open(spec)
    try:
        return within(timeout_s, lambda stop: courier.run(flow, stop), "uploader-run-open")
    except StoppedError:
        raise TimeoutError(f"the platform did not open the run within {timeout_s:g} s") from None


def _kept(log: MetricsLog | None, rows: Sequence[Row]) -> bool:
    if log is None:
        return not rows
    try:
        log.append([plain(row) for row in rows])
    except (OSError, TypeError) as error:
        logger.warning("Metrics could not be written to %s: %s", log.path, error)
        return False
    return True


def _values(row: Row) -> Row:
    """An evaluation's metrics, without what says when they were logged."""
    return {name: value for name, value in row.items() if name not in ("step", "_timestamp")}
