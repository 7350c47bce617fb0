"""What one sink does next: a state machine without clocks, threads or sockets.

Rules:

1. Batches start in the order of their keys. One that was sent in vain keeps its place, which is in front.
2. A refusal (429, 503) is back-pressure: the whole sink pauses for as long as the service asks, and the window shrinks.
3. Any other failure pauses the sink too, twice as long each time, until a batch is stored. Failures of requests that
   were under way together count as one.
4. A batch that failed several times by itself lets others go first: one that the service chokes on holds up none.
5. Nothing counts towards giving up: it is tried for as long as somebody asks.

What is a parcel here need only have a `key`.
"""

import heapq
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from uploader.delivery.backoff import BASE_S, failure_pause_s, refusal_pause_s
from uploader.delivery.concurrency import Concurrency
from uploader.limits import MIB

_PATIENCE = 3
"""How often a batch fails before others go first."""
_GAP_S, _GAP_BYTES = 0.04, 4 * MIB
"""Large requests start a little apart, smaller ones less: eight bodies at once would stall other threads."""


class Keyed(Protocol):
    """Something with a place in the order."""

    @property
    def key(self) -> tuple[int, ...]:
        """Its place; no two are the same."""


ParcelT = TypeVar("ParcelT", bound=Keyed)


class _UnderWay(NamedTuple, Generic[ParcelT]):
    """A parcel that was started."""

    parcel: ParcelT
    started_at: float
    full: bool


class SinkQueue(Generic[ParcelT]):
    """The queue of one sink.

    Args:
        max_in_flight: the most requests under way.
        jitter: gives random numbers in [0, 1).

    Attributes:
        concurrency: the window.
        paused_until: when the sink may be tried again.
        failures: how many times in a row it failed, those under way together counted once.
    """

    def __init__(self, max_in_flight: int, jitter: Callable[[], float]) -> None:
        self.concurrency = Concurrency(max_in_flight)
        self.paused_until = float("-inf")
        self.failures = 0
        self._jitter = jitter
        self._waiting: dict[tuple[int, ...], ParcelT] = {}
        self._ready: list[tuple[int, ...]] = []
        self._delayed: list[tuple[float, tuple[int, ...]]] = []
        self._under_way: dict[tuple[int, ...], _UnderWay[ParcelT]] = {}
        self._own_failures: dict[tuple[int, ...], int] = {}
        self._failed_at = float("-inf")
        self._next_start_at = float("-inf")
        self._asked_to_wait = False

    @property
    def num_waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def num_under_way(self) -> int:
        """How many were started and have not ended."""
        return len(self._under_way)

    def put(self, parcel: ParcelT) -> None:
        """Let a parcel wait, in its place."""
        self._waiting[parcel.key] = parcel
        heapq.heappush(self._ready, parcel.key)

    def discard(self, parcel: ParcelT) -> None:
        """Forget a parcel that waits, if it does."""
        self._waiting.pop(parcel.key, None)
        self._own_failures.pop(parcel.key, None)

    def start(self, now: float, size: Callable[[ParcelT], int]) -> ParcelT | None:
        """The parcel to send now, None for none.

        Args:
            now: the time.
            size: tells the bytes of a parcel.
        """
        limit = self.concurrency.limit
        if now < max(self.paused_until, self._next_start_at) or len(self._under_way) >= limit:
            return None
        key = self._next_key(now)
        if key is None:
            return None
        heapq.heappop(self._ready)
        parcel = self._waiting.pop(key)
        self._under_way[key] = _UnderWay(parcel, now, len(self._under_way) + 1 >= limit)
        gap_s = _GAP_S * min(1.0, size(parcel) / _GAP_BYTES)
        self._next_start_at = now + (gap_s if gap_s > 0.001 else 0.0)
        return parcel

    def wake_at(self, now: float) -> float | None:
        """When `start` may have something that it does not have now, unless something ends or is put before."""
        if len(self._under_way) >= self.concurrency.limit:
            return None
        held_until = max(self.paused_until, self._next_start_at)
        if self._next_key(now) is not None:
            return held_until
        return max(held_until, self._delayed[0][0]) if self._delayed else None

    def stored(self, parcel: ParcelT, now: float, size: int, latency_s: float) -> None:
        """A parcel that was under way is stored.

        Args:
            parcel: which.
            now: the time.
            size: its bytes.
            latency_s: how long its request took.
        """
        full = self._under_way[parcel.key].full or len(self._under_way) >= self.concurrency.limit
        self.concurrency.answered(now, size, latency_s, full=full)
        self.judged(parcel)

    def judged(self, parcel: ParcelT) -> None:
        """A parcel that was under way got its final answer, whatever it was: the service is there."""
        self._end(parcel)
        self._own_failures.pop(parcel.key, None)
        self.failures = 0

    def refused(self, parcel: ParcelT, now: float, retry_after_s: float | None) -> float:
        """A parcel that was under way was refused before any work; it waits again.

        Args:
            parcel: which.
            now: the time.
            retry_after_s: what the service asked for.

        Returns:
            How long the sink pauses from now.
        """
        self._count_failure(parcel, now)
        pause_s = refusal_pause_s(self.failures, retry_after_s, self._jitter())
        self.concurrency.refused(self._under_way[parcel.key].started_at, now, pause_s)
        delay_s = self._pause(now, pause_s)
        self._asked_to_wait = self._asked_to_wait or retry_after_s is not None
        self._end(parcel)
        self.put(parcel)
        return delay_s

    def failed(self, parcel: ParcelT, now: float) -> float:
        """A parcel that was under way had no final answer; it waits again.

        Returns:
            How long the sink pauses from now.
        """
        self._count_failure(parcel, now)
        self.concurrency.failed(self._under_way[parcel.key].started_at, now)
        delay_s = self._pause(now, failure_pause_s(self.failures, self._jitter()))
        self._end(parcel)
        own = self._own_failures[parcel.key] = self._own_failures.get(parcel.key, 0) + 1
        if own < _PATIENCE:
            self.put(parcel)
        else:  # a little longer than the sink pauses, so that the next is another
            own_delay_s = failure_pause_s(own - _PATIENCE + 1, self._jitter())
            self.put_off(parcel, max(self.paused_until, now + own_delay_s) + BASE_S)
        return delay_s

    def put_off(self, parcel: ParcelT, until: float) -> None:
        """Let a parcel wait, in its place, but not before some time."""
        self._waiting[parcel.key] = parcel
        heapq.heappush(self._delayed, (until, parcel.key))

    def given_up(self, parcel: ParcelT) -> None:
        """A parcel that was under way ended without a word about it or the service; it is not put back."""
        self._end(parcel)

    def under_way(self) -> list[ParcelT]:
        """What was started and has not ended."""
        return [started.parcel for started in self._under_way.values()]

    def hurry(self, now: float) -> None:
        """Go on now, but for the pause that the service asked for; what was put off may be tried."""
        if not self._asked_to_wait:
            self.paused_until = min(self.paused_until, now)
        self._delayed = [(min(until, now), key) for until, key in self._delayed]
        heapq.heapify(self._delayed)

    def _end(self, parcel: ParcelT) -> None:
        self._under_way.pop(parcel.key)

    def _count_failure(self, parcel: ParcelT, now: float) -> None:
        if self._under_way[parcel.key].started_at > self._failed_at:
            self._failed_at = now
            self.failures += 1

    def _pause(self, now: float, delay_s: float) -> float:
        if now >= self.paused_until:
            self._asked_to_wait = False
        self.paused_until = max(self.paused_until, now + delay_s)
        return self.paused_until - now

    def _next_key(self, now: float) -> tuple[int, ...] | None:
        """The key to start next; it is the first of those that are ready."""
        while self._delayed and self._delayed[0][0] <= now:
            _, key = heapq.heappop(self._delayed)
            heapq.heappush(self._ready, key)
        while self._ready and self._ready[0] not in self._waiting:
            heapq.heappop(self._ready)
        return self._ready[0] if self._ready else None
