"""Give the GIL away before a millisecond of encoding has passed, so that an event loop's next tick is not late.

Measured on two cores, the lag of a 1 ms tick while one thread encodes an episode or one of the adversarial shapes of
`benchmarks/`: with a budget of 0.5 ms its 99th percentile is 0.5 to 1.2 ms, with 0.75 ms it is 0.9 to 2.0 ms for 2 to
4 % less CPU time, and without naps 2 to 11 ms. Where a neighbour slows the machine down, a thread that only counts and
naps makes it 1.4 ms with 0.5 ms, and 0.8 ms with 0.35 ms, which leaves 95 % of its speed. `time.sleep(0)` is no better
than a nap, and calls that release the GIL for an instant on their own lose the race for it.
"""

import math
import threading
import time
from collections.abc import Callable
from typing import Final

from encoder.gaps import gave_way

# Between checks a step of a quarter of a millisecond may run, on a slow machine of a half; a millisecond is not passed.
BUDGET_S: Final = 0.00035

# The shortest sleep that really gives the GIL to whoever waits for it.
_NAP_S: Final = 1e-6


# An encoding that begins so soon after the thread's last one goes on with its budget: in a row of small records, none
# of which uses up a budget of its own, other threads would wait for as long as the interpreter lets them.
_AT_ONCE_S: Final = 0.0001


class Pacer:
    """Says when it is time to give way, and naps."""

    __slots__ = ("_budget_s", "_clock", "_due_s", "_left_s", "_nap")

    def __init__(
        self,
        budget_s: float = BUDGET_S,
        clock: Callable[[], float] = time.perf_counter,
        nap: Callable[[float], None] = time.sleep,
    ) -> None:
        """Args: seconds of work between two releases, the clock, and what sleeps without the GIL."""
        self._budget_s = budget_s
        self._clock = clock
        self._nap = nap
        self._due_s = clock() + budget_s
        self._left_s = math.inf

    def is_due(self) -> bool:
        """Whether the budget is used up."""
        return self._clock() >= self._due_s

    def restart(self) -> None:
        """Begin a new budget, after having given way."""
        gave_way()
        self._due_s = self._clock() + self._budget_s

    def pause_if_due(self) -> bool:
        """Nap without the GIL where the budget is used up, and say whether it was."""
        if self._clock() < self._due_s:
            return False
        self._nap(_NAP_S)
        self.restart()
        return True

    def leave(self) -> None:
        """The work is done; `come_back` is next."""
        self._left_s = self._clock()

    def come_back(self) -> None:
        """More work begins: within the same budget if it does so at once, else within a new one."""
        if self._clock() - self._left_s > _AT_ONCE_S:
            self.restart()
        self._left_s = math.inf  # until it is left, whoever comes back is inside of it


class _OfThread(threading.local):
    """What each thread has its own of."""

    def __init__(self) -> None:
        self.pacer = Pacer()


_of_thread: Final = _OfThread()


def thread_pacer() -> Pacer:
    """This thread's pacer, for work that is done before the thread does anything else; `leave` it afterwards."""
    pacer = _of_thread.pacer
    pacer.come_back()
    return pacer
