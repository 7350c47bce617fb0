"""A soak: for how long it is seen what it can hold, when which fault comes, and whether memory stays flat."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SHARE: Final = 0.7
"""Of the rate that it can hold, what comes then."""
MOST_WAITING: Final = 96
"""While it is seen what rate it can hold, so many episodes wait to be delivered: some 800 MB of JSON."""

FAULTS: Final = ("refuse", "reset", "429", "503", "stall", "kill", "silence")
"""Connections refused; ended within bodies; requests refused; nothing moves; SIGKILL of the receiver and a new one some
seconds later; requests taken and not answered."""

_EVERY_S: Final = 60.0
_SHARE_BROKEN: Final = 0.08
"""Of the time. An uploader that tries again ever less often needs up to as long again until it is back, and what comes
is 70 % of what it can hold: there is time enough to catch up."""
_SETTLING: Final = 0.1
_ENOUGH_EPISODES: Final = 8
_PATIENCE: Final = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong.

    Attributes:
        name: one of `FAULTS`.
        at_s: when, from the start of the soak.
        for_s: how long, where it lasts.
    """

    name: str
    at_s: float
    for_s: float


def probing_s(soak_s: float) -> float:
    """How long it is seen what rate can be held."""
    return min(60.0, max(3.0, soak_s / 20))


class RateProbe:
    """Sees how fast episodes are delivered, once it flows.

    Args:
        for_s: how long it looks at least.
    """

    def __init__(self, for_s: float) -> None:
        self._for_s = for_s
        self._start: tuple[float, int, int] | None = None
        self.bytes_per_s = 0.0

    def is_over(self, seconds: float, episodes: int, size: int) -> bool:
        """Whether it has seen enough.

        Args:
            seconds: the time.
            episodes: how many are delivered by then.
            size: how much JSON that is.

        Raises:
            RuntimeError: next to nothing is delivered.
        """
        if seconds > _PATIENCE * self._for_s:
            raise RuntimeError(f"only {episodes} episodes were delivered in {seconds:.0f} s")
        if self._start is None:
            self._start = (seconds, episodes, size) if episodes >= _ENOUGH_EPISODES else None
            return False
        start_s, start_episodes, start_size = self._start
        if seconds - start_s < self._for_s or episodes - start_episodes < _ENOUGH_EPISODES:
            return False
        self.bytes_per_s = (size - start_size) / (seconds - start_s)
        return True


def schedule(soak_s: float, seed: int = 0) -> list[Fault]:
    """The faults of a soak: one a minute, or in a short one seven in all; at random moments, the kinds in turn."""
    chance = random.Random(seed)
    every_s = min(_EVERY_S, soak_s / len(FAULTS))
    count = int(soak_s / every_s + 1e-9)
    names: list[str] = []
    while len(names) < count:
        names += chance.sample(FAULTS, len(FAULTS))
    found = []
    for number, name in enumerate(names[:count]):
        for_s = _SHARE_BROKEN * every_s * chance.uniform(0.5, 1.5)
        at_s = number * every_s + chance.uniform(0, every_s - for_s)
        found.append(Fault(name, at_s, for_s))
    return found


@dataclass(frozen=True, slots=True)
class Trend:
    """How memory went.

    Attributes:
        bytes_per_s: the slope of the line that fits best.
        growth_bytes: by how much that rises over the time looked at.
    """

    bytes_per_s: float
    growth_bytes: float


def trend(seconds: Sequence[float], values: Sequence[float]) -> Trend:
    """The median of the slopes between points half of the time apart; the first tenth is left out.

    A peak that passes, as when a large episode is under way, does not tilt it.

    Args:
        seconds: when the values were taken, in order; at least a few.
        values: bytes.
    """
    start = int(len(seconds) * _SETTLING)
    times, taken = seconds[start:], values[start:]
    half = len(times) // 2
    if not half:
        return Trend(0.0, 0.0)
    slopes = sorted(
        (taken[half + number] - taken[number]) / (times[half + number] - times[number]) for number in range(half)
    )
    slope = slopes[len(slopes) // 2]
    return Trend(slope, slope * (times[-1] - times[0]))
