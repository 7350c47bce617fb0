"""What a run needs of the worker behind it, and what it says where there is none."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from uploader.models import LineFormat
from uploader.worker.stats import WorkerReport, WorkerStats


class RunWorker(Protocol):
    """Takes records without making anybody wait, and brings them where they belong."""

    def begin(self) -> None:
        """Have its threads started, so that the first record has no more to wait for than any other."""

    def submit(
        self, records: Sequence[Any], line_format: LineFormat, *, prepare: Callable[[Any], Any] | None = None
    ) -> bool:
        """Queue records; `prepare` makes of each, on the encoder's thread, what is encoded in its place."""

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all of them are safe."""

    def close(self, timeout_s: float = ...) -> WorkerReport:
        """Send what there is, keep the rest, and end."""

    def hurry(self) -> None:
        """Let a `close` that waits, in whatever thread, seal and keep what there is now."""

    @property
    def stats(self) -> WorkerStats:
        """Figures of this moment."""
