"""Logs metrics, and a few of the episodes, to W&B."""

import asyncio
import logging
import random
import threading
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from uploader.errors import ConfigurationError
from uploader.monitors.base import Monitor
from uploader.monitors.data import Where
from uploader.monitors.failures import Failures
from uploader.monitors.ranks import is_first_rank
from uploader.monitors.sampling import Reservoir
from uploader.monitors.stats import MonitorStats
from uploader.monitors.wandb_session import Session
from uploader.monitors.work_queue import WorkQueue
from uploader.runs import exits
from uploader.runs.arguments import usable_seconds
from uploader.runs.background import in_daemon
from uploader.runs.live import DEFAULT_FLUSH_TIMEOUT_S

logger = logging.getLogger(__name__)

THREAD: Final = "uploader wandb"

_MAX_WAITING: Final = 10_000
_MAX_RECORDS: Final = 256
"""The most chosen records that wait: each may hold megabytes."""
_OPEN_STEPS: Final = 2
"""How many steps of a kind and subset are sampled at once: the records of one may come after the next one's first."""


@dataclass(frozen=True, slots=True)
class WandbStats(MonitorStats):
    """Figures of a W&B monitor.

    Records that are not chosen for a table are not `dropped`. What is: one that was chosen while too many calls waited,
    and all of a step whose table was logged already.

    Attributes:
        url: where the run is looked at; None until it is open, or where there is no such place.
        sampled: how many records were put into tables.
        waiting: how many calls wait for W&B.
    """

    url: str | None = None
    sampled: int = 0
    waiting: int = 0


class WandbMonitor(Monitor):
    """Logs metrics to W&B, and a table of some episodes of each step, picked at random.

    All calls of W&B are made in one thread, and what is logged waits for it in a queue: not even `wandb.init` is felt.
    Its import is, as any import holds up other threads now and then; so a monitor that is made before the event loop
    runs imports it at once.

    - Metrics have the names that `Where.qualify` gives them, and are drawn over a metric of their own, `step`: steps
      may come in any order. What is W&B's own, such as a histogram, is logged as it is.
    - The table of a step is named `episodes`, qualified likewise; it is logged when the second step after it begins, or
      at the end. It has a row for each of `episodes_per_step` episodes, each as likely as the others.
    - A run that cannot be opened is tried again, ever less often; meanwhile the rows wait.

    The end of the monitor is the end of the run, whoever opened it.

    Args:
        run: a run of W&B that is open, to be used by nobody else; None to have one opened.
        episodes_per_step: the rows of a table; 0 for none.
        max_message_chars: how much of an episode's messages a row shows.
        finish_timeout_s: how long `finalize` may wait for W&B.
        **init_arguments: those of `wandb.init` for the run that is opened.

    Raises:
        ConfigurationError: an argument cannot be used, or W&B is not installed.
    """

    def __init__(
        self,
        run: Any = None,
        *,
        episodes_per_step: int = 8,
        max_message_chars: int = 20_000,
        finish_timeout_s: float = 60.0,
        **init_arguments: Any,
    ) -> None:
        for option, value in (("episodes_per_step", episodes_per_step), ("max_message_chars", max_message_chars)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ConfigurationError(option, f"it must be a whole number, 0 or more, not {value!r}")
        if run is not None and init_arguments:
            names = ", ".join(init_arguments)
            raise ConfigurationError("run", f"it is open already, so these cannot be used: {names}")
        if find_spec("wandb") is None:
            raise ConfigurationError("wandb", "W&B is not installed: pip install 'unstall[wandb]'")
        if is_first_rank() and not _in_event_loop():
            import_module("wandb")
        self._size = episodes_per_step
        self._finish_timeout_s = usable_seconds("finish_timeout_s", finish_timeout_s)
        self._failures = Failures(f"The monitor {self.name}")
        self._queue = WorkQueue(THREAD, "calling W&B", self._failures, _MAX_WAITING)
        self._session = Session(
            run, init_arguments, self._failures, self._queue.stopped, self.finish_at_exit, max_message_chars
        )
        self._chance = random.Random()
        self._steps: dict[tuple[str, str], dict[int, Reservoir]] = {}
        self._metrics = self._records = self._skipped = 0
        self._said: set[str] = set()
        self._hurried = threading.Event()
        self._is_watched = False

    def start(self) -> None:
        """Have the run opened, in the monitor's thread."""
        if not self._is_watched:
            self._is_watched = True
            exits.watch(self)
            self._queue.put(self._session.ready, 0)

    def take_metrics(self, values: dict[str, Any], where: Where) -> None:
        """Queue a row of metrics."""
        if values:
            self.start()
            self._metrics += 1
            self._queue.put(partial(self._session.log_metrics, values, where))

    def take_records(self, records: list[Any], where: Where) -> None:
        """Queue those of the records that are chosen for the table."""
        self._records += len(records)
        if not self._size:
            return
        reservoir = self._reservoir(where)
        if reservoir is None:
            self._skip(len(records), "came after the table of their step was logged")
            return
        self.start()
        for place, slot in reservoir.offer(len(records)):
            if self._queue.waiting < _MAX_RECORDS:
                self._queue.put(partial(self._session.keep, where, slot, [records[place]]))
            else:
                self._skip(1, f"were chosen while {_MAX_RECORDS} calls of W&B waited")

    def _skip(self, records: int, why: str) -> None:
        """Count records that no table has, and say so once for each reason."""
        self._skipped += records
        if why not in self._said:
            self._said.add(why)
            logger.warning("Episodes that %s are in no table; more such are counted as dropped, and not logged", why)

    def _reservoir(self, where: Where) -> Reservoir | None:
        """What chooses from a step; None where its table was logged already."""
        steps = self._steps.setdefault((where.kind, where.subset), {})
        if where.step not in steps:
            if len(steps) >= _OPEN_STEPS:
                oldest = min(steps)
                if where.step < oldest:
                    return None
                del steps[oldest]
                self._queue.put(partial(self._session.log_table, where._replace(step=oldest)), 0)
            steps[where.step] = Reservoir(self._size, self._chance)
        return steps[where.step]

    async def flush(self, timeout_s: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:
        """Wait until W&B was given everything logged so far; tables are not logged for it.

        Args:
            timeout_s: how long; None for as long as it takes.

        Returns:
            Whether it was.
        """
        return await in_daemon(lambda stop: self._queue.flush(timeout_s, stop), "uploader-flush")

    async def finalize(self) -> None:
        """Log the last tables and finish the run, within `finish_timeout_s`; a cancellation ends the waiting."""
        await self._end(0)

    async def fail(self, error: BaseException) -> None:
        """`finalize`, and mark the run as failed.

        Args:
            error: why.
        """
        await self._end(1)

    async def _end(self, exit_code: int) -> None:
        await in_daemon(lambda stop: self._close(exit_code), "uploader-finish", self._hurried.set)

    def _close(self, exit_code: int) -> None:
        if self._session.run is not None:
            self._queue.start()  # a run that was given, and not used
        last = partial(self._session.finish, exit_code)
        if not self._queue.close(last, self._finish_timeout_s, self._hurried):
            self._failures.note("finishing its run", TimeoutError(f"W&B took more than {self._finish_timeout_s:g} s"))
        self._session.forget_exit()
        exits.forget(self)

    def finish_at_exit(self) -> None:
        """Finish the run as failed: the interpreter exits, and nobody finalized the monitor."""
        self._close(1)

    def after_fork(self) -> None:
        """Leave the run to the parent, in a forked child: it takes nothing any more."""
        self._queue = WorkQueue(THREAD, "calling W&B", self._failures, 0)
        self._session.run = None
        exits.forget(self)

    @property
    def stats(self) -> WandbStats:
        """Figures of this moment."""
        return WandbStats(
            name=self.name,
            metrics=self._metrics,
            records=self._records,
            dropped=self._queue.dropped + self._skipped,
            failures=self._failures.count,
            last_error=self._failures.last,
            url=self._session.url,
            sampled=self._session.rows,
            waiting=self._queue.waiting,
        )


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
