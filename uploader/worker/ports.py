"""What a worker needs of whatever sends its batches."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from uploader.delivery.stats import SinkStats
from uploader.sinks.base import Sink
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker.listening import Listener


class Delivery(Protocol):
    """Sends sealed batches to sinks, in a thread of its own."""

    def start(self, run_id: str) -> None:
        """Begin to send."""

    def offer(self, folder: Folder, spooled: SpooledBatch, *, resumed: bool = False) -> object:
        """Take a batch to be sent, one of an earlier run where `resumed`; it never waits."""

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until nothing waits and nothing is in flight; whether that came to be."""

    def make_room(self) -> None:
        """Have something that is kept in memory let go, if only failing sinks lack it."""

    def stop(self, timeout_s: float) -> object:
        """End, within a time: what is not acknowledged by then goes back."""

    def stats(self) -> Sequence[SinkStats]:
        """The figures of each sink."""

    @property
    def num_escapes(self) -> int:
        """How often something was caught that should not have been."""

    def abandon_after_fork(self) -> None:
        """Forget everything, in a forked child: nothing may be sent twice, and no thread has come along."""


NewDelivery: TypeAlias = Callable[[Sequence[Sink], int, Listener], Delivery]
"""Makes one for some sinks: at most so many requests in flight, and whom to tell."""
