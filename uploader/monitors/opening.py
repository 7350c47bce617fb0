"""A run that is opened in the background, and what is logged to it meanwhile.

Opening a run reads files and may ask the platform, for 15 s at most. So a thread does it, and until it has, what is
logged is kept in a list and given to the run in order. From then on it goes to the run's queue at once.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from uploader.errors import UploaderError
from uploader.monitors.failures import Failures
from uploader.runs import Run
from uploader.worker.beginning import Beginning
from uploader.worker.forks import begin_anew_after_fork

Call: TypeAlias = Callable[[Run], object]
"""Logs something to the run."""

MAX_WAITING: Final = 10_000
"""The most records, and rows of metrics, that wait for a run to be open."""

_LOOK_EVERY_S: Final = 0.05


class Opening:
    """Holds a run, or opens one.

    Args:
        run: one that is open; None to have one opened.
        open_run: opens it; called once, in a thread.
        failures: what is told that this, or a call that waited for it, failed.

    Attributes:
        run: the run, once it is open.
        dropped: the records and rows that were given up: too many waited, or there is no run.
    """

    def __init__(self, run: Run | None, open_run: Callable[[], Run], failures: Failures) -> None:
        self.run = run
        self.dropped = 0
        self._open_run = open_run
        self._failures = failures
        self._failed = False
        self._begin_anew()
        begin_anew_after_fork(self)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._beginning = Beginning()
        self._settled = threading.Event()
        self._waiting: deque[tuple[Call, int]] = deque()
        self._waiting_items = 0
        if self.run is not None or self._failed:
            self._settled.set()

    @property
    def is_begun(self) -> bool:
        """Whether there is a run, or something was logged to the one that is to be opened."""
        return self._beginning.begun or self.run is not None

    def begin(self) -> None:
        """Have the run opened, unless it is; it waits for nothing."""
        if not self.is_begun:
            self._beginning.begin(threading.Thread(target=self._open, name="uploader-open", daemon=True).start)

    def give(self, call: Call, items: int) -> None:
        """Call with the run: at once if it is open, else as soon as it is.

        Args:
            call: what to do.
            items: how many rows or records that concerns.
        """
        if self.run is None:
            self.begin()
            with self._lock:
                if self.run is None:
                    self._keep(call, items)
                    return
        call(self.run)

    def _keep(self, call: Call, items: int) -> None:
        if self._failed or (self._waiting and self._waiting_items + items > MAX_WAITING):
            self.dropped += items
            return
        self._waiting.append((call, items))
        self._waiting_items += items

    def _open(self) -> None:
        try:
            run = self._open_run()
        except BaseException as error:  # noqa: BLE001 - whoever logs must not wait for a run that never comes
            self._give_up(error)
            return
        while True:
            with self._lock:
                if not self._waiting:
                    self.run = run
                    break
                call, items = self._waiting.popleft()
                self._waiting_items -= items
            try:
                call(run)
            except Exception as error:  # noqa: BLE001 - it concerns what was logged then, and nothing else
                self._failures.note("what was logged while its run was opened", error)
            del call
        self._settled.set()

    def _give_up(self, error: BaseException) -> None:
        self._failures.note("opening its run", error)
        with self._lock:
            self._failed = True
            self.dropped += self._waiting_items
            self._waiting.clear()
        self._settled.set()

    def wait(self, timeout_s: float, stop: threading.Event) -> Run:
        """Wait until the run is open.

        Args:
            timeout_s: how long.
            stop: ends the waiting.

        Raises:
            UploaderError: it could not be opened, which was said; or not in time.
        """
        left_s = timeout_s
        while not self._settled.wait(min(_LOOK_EVERY_S, left_s)):
            left_s -= _LOOK_EVERY_S
            if left_s <= 0 or stop.is_set():
                raise UploaderError("the run was not open in time")
        if self.run is None:
            raise UploaderError("there is no run: it could not be opened")
        return self.run

    def after_fork(self) -> None:
        """In a forked child: a run that was being opened is the parent's, and there will be none."""
        self._failed = self._beginning.begun and self.run is None
        self._begin_anew()
