"""How a sink fares: whether it is down, and for how long it has said nothing. The time is an argument."""

import logging
from typing import Final

logger = logging.getLogger("uploader")

DOWN: Final = 3
"""After how many failures in a row a sink is said to be down."""
SILENT_S: Final = 30.0
"""How long a sink that was given something may say nothing before it is taken to be failing."""


class Health:
    """The health of one sink.

    Args:
        name: the sink's.

    Attributes:
        is_down: whether it has failed several times in a row, with nothing stored since.
        reason: why the last attempt failed.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.is_down = False
        self.reason = ""
        self._waits_since: float | None = None

    def asked(self, now: float) -> None:
        """It is given a batch."""
        if self._waits_since is None:
            self._waits_since = now

    def heard(self, now: float, *, waits_still: bool) -> None:
        """It has said something, whatever it was; other batches may still be under way."""
        self._waits_since = now if waits_still else None

    def stored(self) -> None:
        """It has taken a batch."""
        if self.is_down:
            self.is_down = False
            logger.info("%s: takes batches again", self._name)

    def failed(self, error: Exception, failures: int, delay_s: float) -> bool:
        """It has failed, so many times in a row, and pauses; whether it is down from now on."""
        self.reason = str(error) or type(error).__name__
        logger.info("%s: an attempt failed, next in %.1f s: %s", self._name, delay_s, self.reason)
        is_news = failures >= DOWN and not self.is_down
        if is_news:
            self.is_down = True
            logger.warning("%s: takes no batches, and is tried again and again: %s", self._name, self.reason)
        return is_news

    def is_failing(self, now: float) -> bool:
        """Whether others should not wait for it."""
        return self.is_down or (self._waits_since is not None and now - self._waits_since >= SILENT_S)
