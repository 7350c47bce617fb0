"""The run: what a training or an evaluation logs to, and how it ends."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from uploader.errors import RunError
from uploader.runs import exits
from uploader.runs.arguments import usable_seconds, usable_values
from uploader.runs.background import in_daemon
from uploader.runs.closing import RunParts, close_run
from uploader.runs.endings import Ending, Status, final_status
from uploader.runs.identity import RunKind
from uploader.runs.live import LiveRun, Mode, OnError
from uploader.runs.metrics import plain
from uploader.runs.report import RunReport

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Run(LiveRun):
    """A run; `uploader.init` makes it.

    Its methods may be called from any thread. What was logged belongs to the run: it is encoded later, and must not be
    changed. As a context manager, also an asynchronous one, it is finished at the end of the block: as failed if an
    exception ends it.
    """

    def __init__(self, parts: RunParts, kind: RunKind, mode: Mode, on_error: OnError, finish_timeout_s: float) -> None:
        super().__init__(parts, kind, mode, on_error)
        self._finish_timeout_s = finish_timeout_s
        self._report: RunReport | None = None
        self._is_inherited = False
        if mode != "disabled":
            exits.watch(self)

    def finish(
        self, summary: Mapping[str, Any] | None = None, *, status: str = "completed", timeout: float | None = None
    ) -> RunReport:
        """Send what there is, keep the rest on disk, and close the run; called again, it returns the same report.

        It takes no more than a second beyond its time, whatever the service does. Ctrl-C ends the waiting: what
        was logged is sealed and kept on disk; a second one leaves at once.

        Args:
            summary: results, merged into the summary first.
            status: `completed`, `failed` or `cancelled`.
            timeout: seconds, instead of the run's own `finish_timeout`.

        Raises:
            ConfigurationError: an argument cannot be used.
            RunError: something was lost, and errors are to be raised; all else was done.
        """
        if summary is not None:
            usable_values("summary", summary)
        return self._finish(summary, final_status(status), None, timeout)

    def fail(self, error: BaseException | str, *, timeout: float | None = None) -> RunReport:
        """Finish the run as failed.

        Args:
            error: why.
            timeout: as for `finish`.
        """
        return self._finish(None, Status.FAILED, described(error), timeout)

    def _finish(
        self, summary: Mapping[str, Any] | None, status: Status, error: str | None, timeout: float | None
    ) -> RunReport:
        timeout_s = self._finish_timeout_s if timeout is None else usable_seconds("timeout", timeout)
        if not self._finishing.acquire(blocking=False):
            if self._finisher == threading.get_ident() and not self._finished.is_set():
                self._parts.hurry()  # a signal handler that interrupts `finish`: waiting for it would take for ever
            else:
                self._finished.wait(timeout_s)
            return self._report or self._parts.report(self._status)
        self._finisher = threading.get_ident()
        self._summary.update(summary or {})
        self._status = status
        ending = Ending(status, plain(self._summary), error)
        try:
            self._report = close_run(self._parts, ending, timeout_s)
        finally:
            exits.forget(self)
            self._report = self._report or self._parts.report(status)
            self._finished.set()
            logger.log(logging.INFO if self._report.is_complete else logging.WARNING, "%s", self._report)
        if self._raises and self._report.losses:
            raise RunError(self.id, self._report.losses)
        return self._report

    async def afinish(
        self,
        summary: Mapping[str, Any] | None = None,
        *,
        status: str = "completed",
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> RunReport:
        """`finish`, for an event loop, which goes on meanwhile; a cancellation ends the waiting as Ctrl-C does."""
        return await self._in_daemon(lambda: self.finish(summary, status=status, timeout=timeout))

    async def afail(self, error: BaseException | str, *, timeout: float | None = None) -> RunReport:  # noqa: ASYNC109
        """`fail`, for an event loop, as `afinish`."""
        return await self._in_daemon(lambda: self.fail(error, timeout=timeout))

    async def _in_daemon(self, finish: Callable[[], T]) -> T:
        return await in_daemon(lambda stop: finish(), "uploader-finish", self._parts.hurry)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        status, reason = _outcome(error)
        if error is None:
            self._finish(None, status, reason, None)
            return
        try:
            self._finish(None, status, reason, None)
        except RunError as lost:  # what ended the block is what the caller must see
            logger.warning("%s", lost)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._in_daemon(lambda: self.__exit__(kind, error, trace))

    def finish_at_exit(self) -> None:
        """Close the run, which nobody finished; the interpreter exits."""
        try:
            if self._is_inherited:  # how it ends is its parent's to say
                self._finish(None, Status.COMPLETED, None, None)
                return
            logger.warning("Run %s was not finished before the interpreter's exit; it is closed as failed", self.id)
            self._finish(None, Status.FAILED, "the process ended without finishing the run", None)
        except Exception as error:  # noqa: BLE001 - a traceback here helps nobody
            logger.warning("Run %s: %s", self.id, error)

    def after_fork(self) -> None:
        """Go on in a forked child: with locks and threads of its own; closing the run is left to the parent."""
        self._begin_locks()
        self._is_inherited = True
        self._status, self._report = Status.RUNNING, None
        self._parts.metrics.forget()
        self._parts.lifecycle.disown()


def described(error: BaseException | str) -> str:
    """An error in a line."""
    if isinstance(error, BaseException):
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return str(error)


def _outcome(error: BaseException | None) -> tuple[Status, str | None]:
    """What the end of a `with` block says of the run."""
    if error is None or (isinstance(error, SystemExit) and not error.code):
        return Status.COMPLETED, None
    if isinstance(error, KeyboardInterrupt | asyncio.CancelledError | GeneratorExit):
        return Status.CANCELLED, "interrupted"
    return Status.FAILED, described(error)
