"""What a sink is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from uploader.models import LineFormat, UploadReceipt
from uploader.sealing import SealedBatch
from uploader.spool.batches import Destination


@dataclass(frozen=True, slots=True)
class SinkBatch:
    """A sealed batch on its way to a sink.

    Attributes:
        run_id: the run that logged it.
        line_format: what its lines hold.
        sealed: the bytes.
        context: names and values that the service keeps with each trace.
    """

    run_id: str
    line_format: LineFormat
    sealed: SealedBatch
    context: Mapping[str, str] = field(default_factory=dict)


class Sink(Protocol):
    """Sends sealed batches somewhere. It is used on one event loop, in a thread of the worker's own.

    `send` makes one attempt and says by the type of its error what is to be done (`uploader.delivery.verdicts`): an
    error of credentials, account or settings: never again in this run; `PayloadTooLargeError` and a
    `ValidationRejectedError` that may be about a record: in parts; another one, and a `LineFormatConflictError`: the
    batch is set aside; anything else, a `RetryableAPIError`, a `TransportError`, a wrong address: again later.
    """

    @property
    def name(self) -> str:
        """Its name, like `traces`; unique among a worker's sinks."""

    @property
    def destination(self) -> Destination:
        """Where it sends to."""

    async def start(self, run_id: str) -> None:
        """Get ready, before the first batch; an error counts as one of `send`."""

    async def send(self, batch: SinkBatch) -> UploadReceipt:
        """Send one batch, once, and return the receipt that says that it is stored durably."""

    async def close(self) -> None:
        """Let go of connections; the last call."""
