"""All that a worker has in one process: queues, threads, locks. A forked child gets a new one."""

import logging
import threading
from collections.abc import Callable
from typing import Final

from uploader.errors import SpoolError
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker import encoding, leftovers, sealing, starting
from uploader.worker.beginning import Beginning
from uploader.worker.events import SpoolDamaged, SpoolUnavailable, WorkerEvent
from uploader.worker.forks import begin_anew_after_fork
from uploader.worker.handover import Handover
from uploader.worker.intake import Intake
from uploader.worker.keeping import Keeper
from uploader.worker.ledger import Ledger
from uploader.worker.leftovers import Leftovers
from uploader.worker.listening import Listener
from uploader.worker.reporting import Reporting
from uploader.worker.settings import WorkerSettings
from uploader.worker.stats import WorkerStats
from uploader.worker.supervision import Supervised

logger = logging.getLogger(__name__)

REPORTER: Final = "uploader reports"
OPENER: Final = "uploader opening"


class Engine:
    """The worker's parts, put together.

    Its threads are started by `begin`, or else by the first record.

    Args:
        settings: the worker's.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self.ledger = Ledger()
        self.intake = Intake(self.ledger, settings.max_queued_records, settings.max_queued_bytes)
        self.reporting = Reporting(settings.on_event, REPORTER, self.ledger.dropped_reasons)
        self.keeper = Keeper(settings.open_folder, settings.new_memory(), self._trouble, self._damage, self._make_room)
        self.leftovers = Leftovers(settings.find_leftovers, self._adopt, self.tell, self._damage)
        self.listener = Listener(self.ledger, self.tell, self.keeper.made_room)
        new = settings.new_delivery
        self.delivery = None if new is None else new(settings.sinks, settings.max_in_flight, self.listener)
        handover = Handover()
        self.encoding = encoding.Encoding(self.intake, handover, self.ledger, self.keeper, self.tell)
        self.sealing = sealing.Sealing(
            handover, self.ledger, self.keeper, self._offer, self.tell, self._more_comes, settings.new_sealer
        )
        self.threads = (
            Supervised(encoding.THREAD, self._once_open(self.encoding.work), self.encoding.clean_up),
            Supervised(sealing.THREAD, self._once_open(self.sealing.work), self.sealing.clean_up),
            Supervised(leftovers.THREAD, self._once_open(self.leftovers.work), self.leftovers.clean_up),
            Supervised(OPENER, self._open, self._opening_failed),
        )
        self._opened = threading.Event()
        self._said = False
        self.beginning = Beginning()
        begin_anew_after_fork(self)

    def tell(self, event: WorkerEvent) -> None:
        """Report an event."""
        self.reporting.tell(event)

    def _offer(self, folder: Folder, spooled: SpooledBatch) -> None:
        if self.delivery is not None:
            self._start_delivery()  # if there was no thread for it before
            self.delivery.offer(folder, spooled)

    def _trouble(self, error: Exception) -> None:
        self.tell(SpoolUnavailable(error))

    def _damage(self, error: Exception) -> None:
        self.tell(SpoolDamaged(error))

    def _make_room(self) -> None:
        if self.delivery is not None:
            self.delivery.make_room()

    def _adopt(self, folder: Folder, spooled: SpooledBatch) -> bool:
        if self.delivery is None or not self.ledger.adopt(spooled):
            return False
        self.delivery.offer(folder, spooled, resumed=True)
        return True

    def _more_comes(self) -> bool:
        return not self.intake.is_empty or self.encoding.is_busy

    def begin(self) -> None:
        """Have the threads started, unless they are; it waits for nothing."""
        threads = (*self.threads, self.reporting.thread)
        try:
            self.beginning.begin(self._start_delivery, *(thread.start for thread in threads))
        except RuntimeError as error:
            if not self._said:
                self._said = True
                logger.error("The worker's threads cannot be started now: %s", error)

    def _open(self) -> None:
        """The work of a short-lived thread: what waits for a disk."""
        try:
            self.keeper.open()
        except SpoolError as error:
            self.tell(SpoolUnavailable(error))
        if self.keeper.disk is not None:
            self.leftovers.take_in(self.keeper.disk)  # before anything of this run is in it
        self._opened.set()

    def _start_delivery(self) -> None:
        try:
            if self.delivery is not None:
                self.delivery.start(self.settings.run_id)
        except RuntimeError as error:  # the interpreter ends, or has too many threads: batches are kept
            logger.error("Nothing can be sent now: %s", error)

    def _once_open(self, work: Callable[[], None]) -> Callable[[], None]:
        def work_then() -> None:
            self._opened.wait()
            work()

        return work_then

    def _opening_failed(self, error: BaseException) -> None:
        self._opened.set()

    def stats(self) -> WorkerStats:
        """Everything, of this moment."""
        sinks = () if self.delivery is None else tuple(self.delivery.stats())
        encoded, sealed, sent = self.encoding.meter, self.sealing.meter, self.listener.meter
        return WorkerStats(
            counts=self.ledger.counts(),
            sinks=sinks,
            queued_bytes=self.intake.queued_bytes,
            oldest_queued_age_s=self.intake.oldest_age_s,
            encoded_bytes=encoded.total,
            sealed_bytes=sealed.total,
            sent_bytes=sent.total,
            kept_bytes=self.keeper.used_bytes,
            encoded_bytes_per_s=encoded.bytes_per_s,
            sealed_bytes_per_s=sealed.bytes_per_s,
            sent_bytes_per_s=sent.bytes_per_s,
            retries=sum(sink.retries for sink in sinks),
            concurrency=sum(sink.concurrency for sink in sinks),
            restarts=self._restarts(),
            untold_events=self.reporting.untold,
        )

    def _restarts(self) -> int:
        escapes = 0 if self.delivery is None else self.delivery.num_escapes
        return escapes + sum(thread.restarts for thread in (self.reporting.thread, *self.threads))

    def after_fork(self) -> None:
        """Let go of what a forked child must not use: neither locks nor files nor sockets are the parent's."""
        starting.forget()
        if self.delivery is not None:
            self.delivery.abandon_after_fork()
        for folder in (self.keeper.disk, *self.leftovers.folders):
            abandon = getattr(folder, "abandon_after_fork", None)
            if abandon is not None:
                abandon()
