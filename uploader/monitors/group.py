"""Several monitors as one, of which none can hurt the others or whoever logs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from uploader.errors import ConfigurationError
from uploader.monitors.base import Monitor, finite
from uploader.monitors.data import Kind, Subset, Where, sorted_out, usable_where
from uploader.monitors.failures import Failures
from uploader.monitors.ranks import is_first_rank
from uploader.monitors.stats import GroupStats, MonitorStats
from uploader.runs.live import DEFAULT_FLUSH_TIMEOUT_S

logger = logging.getLogger(__name__)


class _Guarded:
    """A monitor whose failures end here."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor
        self.failures = Failures(f"The monitor {monitor.name}")

    def start(self) -> None:
        try:
            self.monitor.start()
        except Exception as error:  # noqa: BLE001 - it is logged and counted, for every monitor alike
            self.failures.note("its start", error)

    async def log(self, taken: dict[str, Any] | list[Any], where: Where) -> None:
        doing, own = ("metrics" if isinstance(taken, dict) else "records"), taken.copy()
        if type(self.monitor).log is not Monitor.log:  # it has one of its own
            await self.call(doing, lambda: self.monitor.log(own, *where))
            return
        try:
            self.monitor.take(own, where)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - as in `call`
            self.failures.note(doing, error)

    async def call(self, doing: str, begin: Callable[[], Awaitable[Any]], otherwise: Any = None) -> Any:
        try:
            return await begin()
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # it was meant for whoever logs
                raise
            self.failures.note(doing, error)
        except Exception as error:  # noqa: BLE001
            self.failures.note(doing, error)
        return otherwise

    @property
    def stats(self) -> MonitorStats:
        try:
            stats = self.monitor.stats
        except Exception as error:  # noqa: BLE001
            self.failures.note("its stats", error)
            stats = MonitorStats(self.monitor.name)
        if not self.failures.count:
            return stats
        return replace(stats, failures=stats.failures + self.failures.count, last_error=self.failures.last)


class MonitorGroup(Monitor):
    """Gives everything to all of its monitors, in order.

    A monitor that fails costs the others nothing, and raises nothing here: a failure is logged once for each kind,
    counted, and visible in `stats`. What cannot be used at all, like a negative step, is treated alike.

    Args:
        monitors: which.

    Raises:
        ConfigurationError: one of them is none.
    """

    def __init__(self, monitors: Sequence[Monitor]) -> None:
        for monitor in monitors:
            if not isinstance(monitor, Monitor):
                raise ConfigurationError("monitors", f"{type(monitor).__name__} is no Monitor")
        self._guarded = [_Guarded(monitor) for monitor in monitors] if is_first_rank() else []
        self._failures = Failures("A call of the monitors' log")
        self._metrics = self._records = 0
        self._ended = self._said_late = False

    def start(self) -> None:
        """Have all of them begin."""
        for each in self._guarded:
            each.start()

    async def log(self, data: Any, step: int, kind: Kind = "train", subset: Subset = "all") -> None:
        """Log to all of them; it raises nothing.

        Args:
            data: as for `Monitor.log`.
            step: of the training.
            kind: whether they are of `train`ing or of an `eval`uation.
            subset: `all` rollouts, or the `effective` ones that the training uses.
        """
        if not self._guarded or self._is_late():
            return
        try:
            where = usable_where(step, kind, subset)
            taken = finite(sorted_out(data))
        except Exception as error:  # noqa: BLE001 - a generator of records may raise anything
            self._failures.note("its arguments", error)
            return
        if isinstance(taken, dict):
            self._metrics += 1
        else:
            self._records += len(taken)
        for each in self._guarded:
            await each.log(taken, where)

    @property
    def is_finalized(self) -> bool:
        """Whether `finalize` or `fail` was called, or there is nothing to finalize."""
        return self._ended or not self._guarded

    def _is_late(self) -> bool:
        if self._ended and not self._said_late:
            self._said_late = True
            logger.warning("The monitors are finalized, and take nothing any more; this is said once")
        return self._ended

    async def flush(self, timeout_s: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:
        """Wait until everything logged so far is safe with all of them; it raises nothing.

        Args:
            timeout_s: how long; None for as long as it takes.

        Returns:
            Whether it is.
        """
        safe = await self._each("its flush", lambda monitor: monitor.flush(timeout_s), otherwise=False)
        return all(safe)

    async def finalize(self) -> None:
        """Finalize all of them, at the same time; it raises nothing."""
        await self._end("its finalize", lambda monitor: monitor.finalize())

    async def fail(self, error: BaseException) -> None:
        """Finalize all of them, after an error that ends the work; it raises nothing.

        Args:
            error: what it was.
        """
        await self._end("its finalize", lambda monitor: monitor.fail(error))

    async def _end(self, doing: str, end: Callable[[Monitor], Awaitable[Any]]) -> None:
        if not self._ended:
            self._ended = True
            await self._each(doing, end)

    async def _each(self, doing: str, call: Callable[[Monitor], Awaitable[Any]], otherwise: Any = None) -> list[Any]:
        calls = [
            each.call(doing, lambda monitor=each.monitor: call(monitor), otherwise)  # type: ignore[misc]
            for each in self._guarded
        ]
        return await asyncio.gather(*calls)

    @property
    def stats(self) -> GroupStats:
        """Figures of all of them, of this moment."""
        monitors = tuple(each.stats for each in self._guarded)
        errors = [each.last_error for each in monitors if each.last_error is not None]
        return GroupStats(
            name=self.name,
            metrics=self._metrics,
            records=self._records,
            dropped=sum(each.dropped for each in monitors),
            failures=self._failures.count + sum(each.failures for each in monitors),
            last_error=self._failures.last or next(iter(errors), None),
            monitors=monitors,
        )
