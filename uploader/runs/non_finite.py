"""Metrics that are NaN or infinite: left out, and named in a warning once each."""

import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

logger = logging.getLogger(__name__)

_MAX_NAMES: Final = 10_000
"""How many names are remembered; the warnings end there, rather than memory grow with names that never come again."""


class NonFinite:
    """Names that were warned of. Any thread may call it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._told: dict[str, object] = {}

    def warn(self, names: Iterable[str]) -> None:
        """Warn of these names in one warning, but for those that were warned of before."""
        me = object()
        names = dict.fromkeys(names) if len(self._told) < _MAX_NAMES else ()
        new = [name for name in names if self._told.setdefault(name, me) is me]  # of two threads one is first
        if new:
            logger.warning("Metrics that are NaN or infinite are left out: %s; each is named once", ", ".join(new))


NON_FINITE: Final = NonFinite()
"""What this process was warned of."""


def without_non_finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are no NaN and no infinity.

    Looked at are floats alone, Python's and numpy's, as that takes no time. What may hold others, a tensor or a list,
    is left to `plain`, which may wait for a device and belongs in a thread.
    """
    left_out = [
        name for name, value in values.items() if isinstance(value, float | np.floating) and not math.isfinite(value)
    ]
    NON_FINITE.warn(map(str, left_out))
    return {name: value for name, value in values.items() if name not in left_out} if left_out else dict(values)
