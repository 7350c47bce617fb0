"""Threads that do not die silently: what escapes one is logged and counted, and its work begins again."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

logger = logging.getLogger(__name__)

_FIRST_PAUSE_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 1.0


class Supervised:
    """A daemon thread that does its work until the work returns.

    Args:
        name: the thread's name.
        work: what it does; called again after each escape.
        clean_up: called with what escaped, before the work begins again: it sets aside what was being worked on.

    Attributes:
        restarts: how often something escaped.
        ended: set once the work has returned.
    """

    def __init__(self, name: str, work: Callable[[], None], clean_up: Callable[[BaseException], None]) -> None:
        self.name = name
        self.restarts = 0
        self.ended = threading.Event()
        self._started = False
        self._work = work
        self._clean_up = clean_up
        self._again = threading.Event()  # never set: a wait that tests can see

    def start(self) -> None:
        """Begin, unless it has begun. The interpreter's exit does not wait for the thread.

        Raises:
            RuntimeError: there is no thread to be had; another call may begin.
        """
        if not self._started:
            threading.Thread(target=self._run, name=self.name, daemon=True).start()
            self._started = True

    def _run(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                self._work()
                break
            except BaseException as error:  # noqa: BLE001 - SystemExit from a record's own encoder, even
                self._escaped(error)
            self._again.wait(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        self.ended.set()

    def _escaped(self, error: BaseException) -> None:
        self.restarts += 1
        with suppress(BaseException):  # a log handler, or no memory: the thread goes on
            logger.error("The thread %s failed, and begins again", self.name, exc_info=error)
        try:
            self._clean_up(error)
        except BaseException:
            with suppress(BaseException):
                logger.exception("The thread %s could not clean up", self.name)
