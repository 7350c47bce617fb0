"""A mark that goes through the worker's threads behind everything that was submitted before it."""

import threading


class Barrier:
    """Passed once everything before it is safe.

    Args:
        is_last: whether the threads end behind it.

    Attributes:
        failed: whether something before it could not be made safe.
    """

    def __init__(self, *, is_last: bool = False) -> None:
        self.is_last = is_last
        self.failed = False
        self._passed = threading.Event()

    def let_through(self, *, failed: bool = False) -> None:
        """Wake whoever waits."""
        self.failed = self.failed or failed
        self._passed.set()

    def wait(self, timeout_s: float | None) -> bool:
        """Wait until everything before it is safe; False if it is not, or not in time."""
        return self._passed.wait(timeout_s) and not self.failed

    @property
    def is_passed(self) -> bool:
        """Whether it has gone through."""
        return self._passed.is_set()
