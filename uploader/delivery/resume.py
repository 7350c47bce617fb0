"""Sends what earlier runs left in a spool, each batch once, and then ends."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from uploader.delivery.parcels import DeliveryListener
from uploader.delivery.sender import Sender
from uploader.errors import DamagedBatchError, SpoolError, SpoolLockedError
from uploader.limits import MAX_IN_FLIGHT
from uploader.models import UploadReceipt
from uploader.sinks.base import Sink
from uploader.spool.batches import Destination, SpooledBatch
from uploader.spool.folder import DiskFolder
from uploader.spool.names import unquote_run
from uploader.spool.scan import leftovers

_MAX_FAILURES = 6
"""After how many failures in a row, with nothing stored between them, a service is taken to be down: some 15 s."""
_MAX_REFUSALS = 30
"""The same for refusals of a service that is there, but full."""
_SLICE_S = 0.5
_STOP_S = 10.0
"""How long requests under way may take when there is nothing else to wait for: after Ctrl-C, say."""


@dataclass
class Resumed(DeliveryListener):
    """What became of the batches in one folder that wait for one destination, or of those that were damaged there.

    Attributes:
        run_id: the run that logged them.
        path: the folder.
        destination: where they are to go; None for what was found when the folder was only put in order.
        batches: how many are stored now.
        records: the records in those.
        sent_bytes: their compressed bytes.
        rejected_records: how many were set aside, damaged ones included, as far as it is known.
        left_batches: how many still wait.
        left_records: the records in those.
        error: why they do.
        problems: what went wrong with the folder's files.
    """

    run_id: str
    path: Path
    destination: Destination | None = None
    batches: int = 0
    records: int = 0
    sent_bytes: int = 0
    rejected_records: int = 0
    left_batches: int = 0
    left_records: int = 0
    error: BaseException | None = None
    problems: list[SpoolError] = field(default_factory=list)
    _failures: int = 0
    _last_error: BaseException | None = None

    def started(self, spooled: SpooledBatch, sink: str) -> None:
        """Nothing: what counts is how it ends."""

    def stored(self, spooled: SpooledBatch, sink: str, receipt: UploadReceipt, last: bool) -> None:
        """Count it."""
        self._failures = 0
        self.batches += 1
        self.records += spooled.batch.num_lines
        self.sent_bytes += spooled.compressed_size

    def returned(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        """Remember why."""
        self._last_error = error

    def divided(self, spooled: SpooledBatch, parts: list[SpooledBatch]) -> None:
        """The service is there."""
        self._failures = 0

    def rejected(self, spooled: SpooledBatch, sink: str, error: BaseException) -> None:
        """Count it."""
        self._failures = 0
        self.rejected_records += spooled.batch.num_lines

    def dropped(self, spooled: SpooledBatch, sinks: str) -> None:
        """Nothing: what is on disk is kept."""

    def retrying(self, sink: str, error: BaseException, delay_s: float) -> None:
        """Give up after many in a row."""
        self._failures += 1
        is_refusal = getattr(error, "status_code", None) in (429, 503)
        if self._failures >= (_MAX_REFUSALS if is_refusal else _MAX_FAILURES):
            self.error = error

    def paused(self, sink: str, error: BaseException) -> None:
        """Nothing: `retrying` says when to give up."""

    def stopped(self, sink: str, error: BaseException) -> None:
        """There is no use in going on."""
        self.error = error

    @property
    def damaged(self) -> list[DamagedBatchError]:
        """The batches that were not what was written; each says how many records it held."""
        return [problem for problem in self.problems if isinstance(problem, DamagedBatchError)]

    def note_found(self, problems: Iterable[SpoolError]) -> None:
        """Count what was found before anything was sent; what is found twice counts once."""
        known = set(map(str, self.problems))
        new = [problem for problem in problems if str(problem) not in known]
        self.problems += new
        self.rejected_records += sum(each.num_records or 0 for each in new if isinstance(each, DamagedBatchError))

    def count_left(self, folder: DiskFolder, destination: Destination) -> None:
        """Count what still waits, once nothing is sent any more."""
        left = [batch for batch in folder.iter_waiting() if destination in batch.waiting_for]
        self.left_batches, self.left_records = len(left), sum(batch.batch.num_lines for batch in left)
        self.problems += folder.take_problems()
        if left and self.error is None:
            self.error = self._last_error


def resume(
    root: Path,
    sinks: Sequence[Sink],
    *,
    max_in_flight: int = MAX_IN_FLIGHT,
    on_folder: Callable[[Resumed], object] = lambda _: None,
) -> list[Resumed]:
    """Send what waits for these sinks' destinations in folders that nobody uses, one folder after the other.

    It ends when all is sent, or when a sink is stopped or seems to be down; what is left stays where it is.

    Args:
        root: the spool.
        sinks: where to.
        max_in_flight: the most requests at once.
        on_folder: called with each folder's result, as far as it is known at the end of an interrupted one.

    Returns:
        The results, folder by folder.
    """
    results: list[Resumed] = []
    for sink in sinks:
        for folder in leftovers(root, sink.destination):
            result = Resumed(folder.run_id, folder.path, sink.destination)
            try:
                _send(folder, sink, result, max_in_flight)
            finally:
                result.count_left(folder, sink.destination)
                folder.close()
                results.append(result)
                on_folder(result)
            if result.error is not None:
                return results
    return results


def put_in_order(path: Path) -> Resumed | None:
    """Do in a folder what any opening does: end or undo what was going on there, and set aside what is damaged.

    A batch that is damaged or unfinished may not tell for whom it waits, so nobody who looks for what waits for them
    would open a folder that holds nothing else.

    Returns:
        What was wrong there; None if that is nothing, or somebody uses the folder.
    """
    result = Resumed(unquote_run(path.name), path)
    try:
        folder = DiskFolder.open_existing(path)
        try:
            for _ in folder.iter_waiting():
                pass  # each manifest is looked at when it is come to
            result.run_id = folder.run_id
            result.note_found(folder.take_problems())
        finally:
            folder.close()
    except SpoolLockedError:
        return None
    except SpoolError as error:
        if not isinstance(error.__cause__, FileNotFoundError):  # or its last user has just removed it
            result.note_found([error])
    return result if result.problems else None


def together(results: Sequence[Resumed]) -> list[Resumed]:
    """One result for each folder and destination: what was wrong in a folder is in the first that was sent from it."""
    found = [result for result in results if result.destination is not None]
    for each in results:
        if each.destination is None:
            sent = next((result for result in found if result.path == each.path), None)
            if sent is None:
                found.append(each)
            else:
                sent.note_found(each.problems)
    return found


def _send(folder: DiskFolder, sink: Sink, result: Resumed, max_in_flight: int) -> None:
    sender = Sender([sink], max_in_flight=max_in_flight, listener=result)
    try:
        for spooled in folder.iter_waiting():
            sender.offer(folder, spooled)
        result.note_found(folder.take_problems())
        sender.start(folder.run_id)
        while not sender.wait_idle(_SLICE_S) and result.error is None:
            pass
    finally:
        sender.stop(_STOP_S)
