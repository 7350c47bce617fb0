"""What monitors say of themselves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MonitorStats:
    """Figures of one monitor, of one moment. Monitors add figures of their own.

    Attributes:
        name: which monitor.
        metrics: rows of metrics that it was given.
        records: episodes and other records that it was given.
        dropped: rows and records that were given up for want of room, of time, or of a run.
        failures: calls and attempts that failed. A failed disk is tried again, so a failure is no loss.
        last_error: the last of these, in words; None if there was none.
    """

    name: str
    metrics: int = 0
    records: int = 0
    dropped: int = 0
    failures: int = 0
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class GroupStats(MonitorStats):
    """Figures of several monitors together.

    `metrics` and `records` are what the group was given; `dropped` and `failures` the sums over its monitors.

    Attributes:
        monitors: those of each, in the order of their set-up.
    """

    monitors: tuple[MonitorStats, ...] = ()

    def __getitem__(self, name: str) -> MonitorStats:
        """The figures of the first monitor of this name.

        Raises:
            KeyError: there is none.
        """
        for each in self.monitors:
            if each.name == name:
                return each
        raise KeyError(name)
