"""The monitors of this process, for code that is far from where they were made."""

import logging
from typing import Any

from uploader.monitors.base import Monitor
from uploader.monitors.data import Kind, Subset
from uploader.monitors.group import MonitorGroup
from uploader.monitors.stats import GroupStats

logger = logging.getLogger(__name__)


class _Registry:
    def __init__(self) -> None:
        self.group: MonitorGroup | None = None
        self.said_none = False


_registered = _Registry()


def setup(*monitors: Monitor) -> MonitorGroup:
    """Register monitors: `log` and `finalize` go to all of them. What takes time in it begins in the background.

    Monitors that were registered before are replaced; finalize them first. Where `RANK` or `DP_RANK` is not 0, none is
    registered, and all calls do nothing.

    Args:
        *monitors: which.

    Returns:
        All of them, as one monitor.

    Raises:
        ConfigurationError: one of them is none.
    """
    group = MonitorGroup(monitors)
    before, _registered.group = _registered.group, group
    if before is not None and not before.is_finalized:
        logger.warning("Other monitors take the place of some that were not finalized")
    group.start()
    return group


async def log(data: Any, step: int, kind: Kind = "train", subset: Subset = "all") -> None:
    """Log a row of metrics, or records, to all registered monitors; it raises nothing, and returns once all is queued.

    Args:
        data: a mapping of metrics, a record, or several records; see `Monitor.log`.
        step: of the training; 0 or more.
        kind: whether they are of `train`ing or of an `eval`uation.
        subset: `all` rollouts, or the `effective` ones that the training uses.
    """
    if _registered.group is not None:
        await _registered.group.log(data, step, kind, subset)
    elif not _registered.said_none:
        _registered.said_none = True
        logger.warning("Nothing is logged, as there are no monitors: call uploader.monitors.setup first")


async def finalize() -> None:
    """Finalize all registered monitors; it raises nothing."""
    if _registered.group is not None:
        await _registered.group.finalize()


def stats() -> GroupStats:
    """Figures of all registered monitors."""
    return GroupStats("none") if _registered.group is None else _registered.group.stats
