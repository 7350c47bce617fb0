"""What went wrong, said once for each kind and counted."""

import logging

logger = logging.getLogger(__name__)


class Failures:
    """What went wrong with one thing, of which each kind is logged once.

    Args:
        name: what it concerns.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: set[tuple[str, type[BaseException]]] = set()
        self.count = 0
        self.last: str | None = None

    def note(self, doing: str, error: BaseException) -> None:
        """Count a failure, and log it if it is the first of its kind."""
        self.count += 1
        self.last = f"{doing}: {type(error).__name__}: {error}"
        kind = (doing, type(error))
        if kind not in self._said:
            self._said.add(kind)
            logger.error(
                "%s failed at %s; more such failures are counted, and not logged", self._name, doing, exc_info=error
            )
