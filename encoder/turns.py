"""Whose turn it is to encode, when several threads do so at once.

The GIL is handed over at random: with eight threads encoding, an event loop's tick comes eight times later, a plain
lock starves some of them for a quarter of a second, and all lose two thirds of their speed to the fight. So one slice
is encoded at a time in the whole process, in the order of asking. The nap that gives the GIL away is taken while
holding the turn: nobody but the threads that do other work can take it then.

The turn is a courtesy, not a lock. A serializer of the user's may wait for something that another encoding thread
holds; so whoever is next in line takes the turn of one that has not moved for a while, and that one asks anew.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

# A slice takes a millisecond; a single call of a user's serializer may take longer, and then there are two at once.
STUCK_S: Final = 0.05


class Turns:
    """Grants turns in the order of asking."""

    def __init__(self, stuck_s: float = STUCK_S, clock: Callable[[], float] = time.monotonic) -> None:
        """Args: how long a turn may last before the next in line takes it, and the clock that tells."""
        self._stuck_s = stuck_s
        self._clock = clock
        self.forget()

    def forget(self) -> None:
        """Begin with nobody's turn, as in a process that was just forked."""
        self._mutex = threading.Lock()
        self._line: deque[threading.Lock] = deque()
        # Whose turn it is: the gate that was opened for it, and its thread.
        self._holder: object = None
        self._thread = 0
        self._since_s = 0.0

    def turn(self) -> "Turn":
        """A turn to be asked for, by `with`."""
        return Turn(self)

    @property
    def wanted(self) -> bool:
        """Whether somebody waits."""
        return bool(self._line)

    def is_mine(self) -> bool:
        """Whether this thread has the turn already, as when a serializer of the user's encodes something."""
        return self._holder is not None and self._thread == threading.get_ident()

    def take(self) -> object:
        """Wait for the turn, and return what stands for it."""
        gate = threading.Lock()
        with self._mutex:
            if self._holder is None:
                return self._grant(gate)
            gate.acquire()
            self._line.append(gate)
        try:
            while not gate.acquire(timeout=self._stuck_s):
                with self._mutex:
                    if self._line and self._line[0] is gate and self._clock() - self._since_s >= self._stuck_s:
                        self._line.popleft()
                        return self._grant(gate)
        except BaseException:  # Ctrl-C: leave the line, or hand on what came just now
            with self._mutex:
                if gate in self._line:
                    self._line.remove(gate)
            self.give(gate)
            raise
        self._thread = threading.get_ident()
        return gate

    def _grant(self, gate: object) -> object:
        self._holder, self._thread, self._since_s = gate, threading.get_ident(), self._clock()
        return gate

    def give(self, held: object) -> None:
        """Hand the turn on to the next in line, unless it was taken away meanwhile."""
        with self._mutex:
            if self._holder is not held:
                return
            self._holder = None
            if self._line:
                gate = self._line.popleft()
                self._holder, self._thread, self._since_s = gate, 0, self._clock()
                gate.release()


class Turn:
    """One thread's turn, inside of a `with` block; inside of another one of the same thread it does nothing."""

    __slots__ = ("_held", "_turns")

    def __init__(self, turns: Turns) -> None:
        """Args: where turns are granted."""
        self._turns = turns
        self._held: object = None

    def __enter__(self) -> Self:
        if not self._turns.is_mine():
            self._held = self._turns.take()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._turns.give(held)

    def let_others(self) -> None:
        """Go to the end of the line, if there is one."""
        if self._held is not None and self._turns.wanted:
            self._turns.give(self._held)
            self._held = None
            self._held = self._turns.take()


TURNS: Final = Turns()
"""The turns of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURNS.forget)
