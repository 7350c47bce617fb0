"""What a worker tells its `on_event` hook."""

from dataclasses import dataclass
from typing import TypeAlias

from uploader.models import UploadReceipt
from uploader.spool.batches import SpooledBatch


@dataclass(frozen=True, slots=True)
class Dropped:
    """Records were given up, for want of room, of time or of a disk, in the last quarter of a second or so.

    Attributes:
        records: how many.
        reason: why.
    """

    records: int
    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """Records were set aside.

    Attributes:
        records: how many.
        reason: why, shortly; the key of `rejected_reasons`.
        error: why, at length.
        sink: who refused them; None if they never came into a batch.
    """

    records: int
    reason: str
    error: str
    sink: str | None = None


@dataclass(frozen=True, slots=True)
class Spooled:
    """A batch was sealed, and is kept until it is sent.

    Attributes:
        batch: which.
    """

    batch: SpooledBatch


@dataclass(frozen=True, slots=True)
class Stored:
    """A sink has a batch.

    Attributes:
        batch: which.
        sink: the sink's name.
        receipt: its word.
        last: whether no other sink waits for the batch.
    """

    batch: SpooledBatch
    sink: str
    receipt: UploadReceipt
    last: bool


@dataclass(frozen=True, slots=True)
class Divided:
    """A batch that was refused is sent in parts.

    Attributes:
        batch: which.
        parts: what took its place.
    """

    batch: SpooledBatch
    parts: tuple[SpooledBatch, ...]


@dataclass(frozen=True, slots=True)
class Retrying:
    """A sink could not take a batch now; it is sent again.

    Attributes:
        sink: the sink's name.
        error: what went wrong.
        delay_s: how long nothing is sent.
    """

    sink: str
    error: BaseException
    delay_s: float


@dataclass(frozen=True, slots=True)
class SinkPaused:
    """A sink is down; it is tried again for as long as the run lives.

    Attributes:
        sink: the sink's name.
        error: what went wrong.
    """

    sink: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class SinkStopped:
    """A sink refuses the key or the account: nothing more is sent to it in this run.

    Attributes:
        sink: the sink's name.
        error: what it said.
    """

    sink: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class SpoolUnavailable:
    """A batch could not be written to disk, and is kept in memory.

    Attributes:
        error: why.
    """

    error: BaseException


@dataclass(frozen=True, slots=True)
class SpoolDamaged:
    """Something on disk is not what was written, or could not be done; what is damaged has been set aside.

    Attributes:
        error: what; a `DamagedBatchError` says how many records it concerns.
    """

    error: Exception


@dataclass(frozen=True, slots=True)
class Resumed:
    """Batches that an earlier run left are sent, too.

    Attributes:
        run_id: that run.
        batches: how many.
        records: how many they hold.
    """

    run_id: str
    batches: int
    records: int


@dataclass(frozen=True, slots=True)
class ThreadRestarted:
    """Something escaped a thread, whose work began again.

    Attributes:
        thread: the thread's name.
        error: what it was.
    """

    thread: str
    error: BaseException


WorkerEvent: TypeAlias = (
    Dropped
    | Rejected
    | Spooled
    | Stored
    | Divided
    | Retrying
    | SinkPaused
    | SinkStopped
    | SpoolUnavailable
    | SpoolDamaged
    | Resumed
    | ThreadRestarted
)
