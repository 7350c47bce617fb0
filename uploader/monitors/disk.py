"""What a disk refuses is tried again: said once, counted, and waited for."""

import logging
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from uploader.errors import SpoolLockedError, clear_frames
from uploader.monitors.failures import Failures
from uploader.pumps import StoppedError

logger = logging.getLogger(__name__)

T = TypeVar("T")

_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 5.0


class Disk:
    """Makes attempts at a disk, from any thread.

    Args:
        name: the folder that is written to.
        failures: what is told of each attempt that fails.

    Attributes:
        is_failing: whether the last attempt failed.
    """

    def __init__(self, name: str, failures: Failures) -> None:
        self._name = name
        self._failures = failures
        self.is_failing = False

    def until_done(self, doing: str, attempt: Callable[[], T], stop: threading.Event) -> T:
        """Try until it works.

        Args:
            doing: what is tried, in words.
            attempt: what is called; it leaves nothing behind where it raises OSError.
            stop: ends the trying.

        Returns:
            What it returned.

        Raises:
            StoppedError: it did not work before the event was set.
            Exception: what the attempt raises, and is no fault of the disk.
        """
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                result = attempt()
            except (OSError, SpoolLockedError) as error:
                self.is_failing = True
                self._failures.note(doing, error)
                clear_frames(error)  # they hold the record
            else:
                if self.is_failing:
                    self.is_failing = False
                    logger.warning("%s can be written to again", self._name)
                return result
            if stop.wait(pause_s):
                raise StoppedError
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
