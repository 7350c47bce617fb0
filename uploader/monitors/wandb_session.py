"""A W&B run, as one thread uses it: opened when it is first needed, logged to, and finished."""

import atexit
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from encoder.pacer import Pacer
from uploader.monitors.data import Where
from uploader.monitors.failures import Failures
from uploader.monitors.wandb_rows import COLUMNS, row_of
from uploader.pumps import StoppedError
from uploader.runs.metrics import plain

STEP: Final = "step"
"""The metric that all others are drawn over: W&B's own step only ever grows, and rows come from several at once."""

TABLE: Final = "episodes"

_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 600.0


class Session:
    """All calls of W&B, for one thread.

    Args:
        run: one that is open; None to have one opened.
        init_arguments: those of `wandb.init` for it.
        failures: what is told where it cannot be opened.
        stop: ends the waiting for one that cannot be opened.
        at_exit: called when the interpreter exits, before W&B ends itself.
        max_chars: how much of an episode's messages is shown.

    Attributes:
        run: the run; None until it is open.
        url: where it is looked at, if there is such a place.
        rows: how many rows of tables were made.
    """

    def __init__(
        self,
        run: Any,
        init_arguments: Mapping[str, Any],
        failures: Failures,
        stop: threading.Event,
        at_exit: Callable[[], object],
        max_chars: int,
    ) -> None:
        self.run = run
        self.url: str | None = None
        self.rows = 0
        self._init_arguments = init_arguments
        self._failures = failures
        self._stop = stop
        self._at_exit = at_exit
        self._max_chars = max_chars
        self._is_ready = False
        self._tables: dict[Where, dict[int, list[Any]]] = {}
        self._pacer = Pacer()

    def ready(self) -> Any:
        """The run, open.

        Raises:
            StoppedError: it could not be opened while somebody waited for it.
        """
        pause_s = _FIRST_PAUSE_S
        while not self._is_ready:
            try:
                self._open()
            except Exception as error:  # no network, no key, no service: it is tried again
                self._failures.note("opening its run", error)
                if self._stop.wait(pause_s):
                    raise StoppedError from error
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        return self.run

    def _open(self) -> None:
        if self.run is None:
            self.run = import_module("wandb").init(**self._init_arguments)
            # W&B ends itself at the interpreter's exit, by a hook that it has set by now; a later one comes before it.
            atexit.register(self._at_exit)
        self.run.define_metric(STEP, hidden=True)
        self.run.define_metric("*", step_metric=STEP)
        if not self.run.offline:  # an offline run would warn that it has none
            self.url = self.run.url
        self._is_ready = True

    def log_metrics(self, values: Mapping[str, Any], where: Where) -> None:
        """Log a row of metrics; what is W&B's own, such as an image or a histogram, as it is."""
        own = {name: value for name, value in values.items() if type(value).__module__.partition(".")[0] == "wandb"}
        row = plain({name: value for name, value in values.items() if name not in own}) | own
        if row:
            self.ready().log({**{where.qualify(name): value for name, value in row.items()}, STEP: where.step})

    def keep(self, where: Where, slot: int, held: list[Any]) -> None:
        """Make a record's row, in the place of another one perhaps.

        Args:
            where: what it belongs to.
            slot: its place in the table.
            held: the record, alone in a list, which is emptied.
        """
        self._pacer.restart()
        row = row_of(held[0], where.step, self._max_chars, self._pacer.pause_if_due)
        held.clear()
        self._tables.setdefault(where, {})[slot] = row
        self.rows += 1

    def log_table(self, where: Where) -> None:
        """Log the table of a step, kind and subset."""
        rows = self._tables.pop(where, {})
        if rows:
            data = [rows[slot] for slot in sorted(rows)]
            table = import_module("wandb").Table(columns=list(COLUMNS), data=data, allow_mixed_types=True)
            self.ready().log({where.qualify(TABLE): table, STEP: where.step})

    def finish(self, exit_code: int) -> None:
        """End the run."""
        for where in list(self._tables):
            self.log_table(where)
        if self.run is not None:
            self.run.finish(exit_code=exit_code)

    def forget_exit(self) -> None:
        """Have nothing called at the interpreter's exit any more."""
        atexit.unregister(self._at_exit)
