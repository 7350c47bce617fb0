"""How many uploads are taken at once; one more is refused before any work."""

from collections.abc import Iterator
from contextlib import contextmanager

from uploader.receiver.errors import RequestRefusedError


class Admission:
    """Counts the uploads in flight; used from the event loop alone.

    An admitted upload costs one write buffer while its body arrives on disk, and one line while a worker
    checks it, so memory is bounded by this count and the number of workers.

    Attributes:
        in_flight: the uploads that are being served.
        most_in_flight: the most that ever were.
        refused: how many were turned away.
    """

    def __init__(self, max_in_flight: int, retry_after_s: float) -> None:
        self._max_in_flight = max_in_flight
        self._retry_after_s = retry_after_s
        self.in_flight = 0
        self.most_in_flight = 0
        self.refused = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the slots.

        Raises:
            RequestRefusedError: `ingest_capacity_exceeded`, when none is free.
        """
        if self.in_flight >= self._max_in_flight:
            self.refused += 1
            raise RequestRefusedError(
                "ingest_capacity_exceeded",
                f"{self.in_flight} uploads are being taken: send the same bytes again later.",
                self._retry_after_s,
            )
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1
