"""How many requests a sink may have under way: additive increase, multiplicative decrease.

Rules:

1. Until the first refusal every answer adds one; after it a whole window of answers adds one.
2. Only a window that was full grows, and only while latency holds: the recent mean of answers of about this size is
   compared with a slowly moving one, so that a slower service is got used to, and a queue that builds up is not.
3. A refusal or a failure halves the window, once for all requests that were under way: they met the same service.
4. Below the size at which it was refused, a window is held for many times the pause that the refusal cost: with many
   producers at one service most steps to that size are refused, and each costs what would have been sent in the
   pause. With sixteen pauses, twelve producers that begin together leave at most a seventh of a full service's slots
   idle; with eight they left a fifth, for little more fairness.
5. A refusal of a single request holds nothing, nor does one that no answer came before, since the window was last cut:
   those are of a service that is down, or full of others, and say nothing about a size.

Nothing here knows clocks or requests: the time is an argument.
"""

from dataclasses import dataclass

_FIRST = 2
_CUT = 0.5
_TOLERANCE = 2.0
"""How many times the slow mean a recent mean may be."""
_QUICK, _SLOW = 0.3, 0.03
"""The weight of one answer in each mean."""
_PAUSES_APART = 16.0
"""How many pauses lie between two steps to a size that was refused."""
_LONGEST_HOLD_S = 120.0
"""Not longer, though: the other producers may have ended."""


@dataclass
class _Means:
    """Two means of the latency of answers of about one size, in seconds."""

    quick: float
    slow: float

    def add(self, latency_s: float) -> None:
        self.quick += _QUICK * (latency_s - self.quick)
        self.slow += _SLOW * (latency_s - self.slow)

    @property
    def holds(self) -> bool:
        return self.quick <= _TOLERANCE * self.slow


class Concurrency:
    """The window of one sink.

    Args:
        most: the largest that it may become.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = float(min(_FIRST, most))
        self._refused_size: int | None = None
        self._held_until = float("-inf")
        self._cut_at = float("-inf")
        self._is_answered = False
        """Whether an answer came since it was last cut."""
        self._means: dict[int, _Means] = {}

    @property
    def limit(self) -> int:
        """How many requests may be under way now."""
        return int(self._size)

    def answered(self, now: float, size: int, latency_s: float, *, full: bool) -> None:
        """A request of so many bytes was answered as it should be.

        Args:
            now: the time.
            size: its bytes.
            latency_s: how long it took.
            full: whether as many requests were under way as might be.
        """
        means = self._means.setdefault(size.bit_length() // 2, _Means(latency_s, latency_s))
        means.add(latency_s)
        self._is_answered = True
        if full and means.holds:
            step = 1.0 if self._refused_size is None else 1.0 / self._size
            self._size = min(self._size + step, self._most_at(now))

    def refused(self, started_at: float, now: float, pause_s: float) -> None:
        """A request was refused, as there were too many.

        Args:
            started_at: when it was started.
            now: the time.
            pause_s: how long the sink pauses for it.
        """
        size, is_answered = self.limit, self._is_answered
        if self.failed(started_at, now) and is_answered and size > 1:
            self._held_until = now + min(_PAUSES_APART * pause_s, _LONGEST_HOLD_S)
            self._refused_size = size

    def failed(self, started_at: float, now: float) -> bool:
        """A request had no answer, or none that tells; whether the window was halved for it.

        Args:
            started_at: when it was started.
            now: the time.
        """
        if started_at <= self._cut_at:
            return False
        self._cut_at = now
        self._is_answered = False
        self._size = max(1.0, self._size * _CUT)
        return True

    def _most_at(self, now: float) -> float:
        if self._refused_size is None or now >= self._held_until:
            return self._most
        return max(self._size, min(self._refused_size - 0.01, self._most))
