"""The base of all monitors."""

from types import TracebackType
from typing import Any, Self

from uploader.monitors.data import Kind, Subset, Where, sorted_out, usable_where
from uploader.monitors.ranks import is_first_rank
from uploader.monitors.stats import MonitorStats
from uploader.runs.live import DEFAULT_FLUSH_TIMEOUT_S
from uploader.runs.non_finite import without_non_finite


def finite(taken: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
    """A row of metrics without NaN and infinities; records as they are."""
    return without_non_finite(taken) if isinstance(taken, dict) else taken


class Monitor:
    """Takes what an orchestrator logs on its event loop, and does the work behind it elsewhere.

    To write one, override `take_metrics` and `take_records`, which must do no more than put things in a queue; `start`,
    `finalize` and `stats` as needed. As an asynchronous context manager a monitor is started, and finalized at the end.
    """

    @property
    def name(self) -> str:
        """What it is called in `stats` and in the log."""
        return type(self).__name__

    def start(self) -> None:
        """Begin what takes time, in the background: opening a run, a thread. `setup` calls it; it must not wait."""

    async def log(self, data: Any, step: int, kind: Kind = "train", subset: Subset = "all") -> None:
        """Log a row of metrics, or records; it returns as soon as they are queued.

        Where `RANK` or `DP_RANK` is not 0 it does nothing.

        Args:
            data: a mapping of names to values is a row of metrics: NaN and infinities are left out, with a warning that
                names them. An `Episode`, a `Trace`, another pydantic model, an object with `iter_json`, `to_json` or
                `to_record`, or an encoded line is a record; a list may hold many, and mappings as records, too.
                Records belong to the monitor from now on, and must not be changed: they are encoded later.
            step: of the training; 0 or more.
            kind: whether they are of `train`ing or of an `eval`uation.
            subset: `all` rollouts, or the `effective` ones that the training uses.

        Raises:
            ConfigurationError: one of the arguments cannot be used.
        """
        if not is_first_rank():
            return
        self.take(finite(sorted_out(data)), usable_where(step, kind, subset))

    def take(self, taken: dict[str, Any] | list[Any], where: Where) -> None:
        """Take what `log` was given, once it is checked. A group of monitors checks it for all of them.

        Args:
            taken: a row of metrics, or records.
            where: what it belongs to.
        """
        if isinstance(taken, dict):
            self.take_metrics(taken, where)
        elif taken:
            self.take_records(taken, where)

    def take_metrics(self, values: dict[str, Any], where: Where) -> None:
        """Queue a row of metrics: numbers, texts, or what has an `item` or a `tolist`. It must not wait.

        Args:
            values: a dict of the monitor's own; no float in it is NaN or infinite.
            where: what it belongs to.
        """

    def take_records(self, records: list[Any], where: Where) -> None:
        """Queue records. It must not wait.

        Args:
            records: at least one, in a list of the monitor's own.
            where: what they belong to.
        """

    async def flush(self, timeout_s: float | None = DEFAULT_FLUSH_TIMEOUT_S) -> bool:
        """Wait until everything logged so far is safe.

        Args:
            timeout_s: how long; None for as long as it takes.

        Returns:
            Whether it is.
        """
        return True

    async def finalize(self) -> None:
        """Do what is left, and end. Called again, it does nothing."""

    async def fail(self, error: BaseException) -> None:
        """`finalize`, after an error that ends the work.

        Args:
            error: what it was.
        """
        await self.finalize()

    @property
    def stats(self) -> MonitorStats:
        """Figures of this moment."""
        return MonitorStats(self.name)

    async def __aenter__(self) -> Self:
        if is_first_rank():
            self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await (self.finalize() if error is None else self.fail(error))
