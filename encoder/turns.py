"""Whose turn it is to encode, when several threads do so at once.

The GIL is handed over at random: with eight threads encoding, an event loop's tick comes eight times later, a plain
lock starves some of them for a quarter of a second, and all lose two thirds of their speed to the fight. So one slice
is encoded at a time in the whole process, in the order of asking. The nap that gives the GIL away is taken while
holding the turn: nobody but the threads that do other work can take it then.
"""

import os
import threading
from collections import deque
from types import TracebackType
from typing import Final


class Turns:
    """A lock that is granted in the order of asking; a thread that has it may ask again."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        """Begin with nobody's turn, as in a process that was just forked."""
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._owner == me:  # a serializer of the user's that encodes something by itself
            self._depth += 1
            return
        with self._mutex:
            if self._owner is None:
                self._owner, self._depth = me, 1
                return
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        self._wait(gate)
        self._owner, self._depth = me, 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._depth -= 1
        if not self._depth:
            self._hand_on()

    def yield_turn(self) -> None:
        """Let those who wait go first, if anybody does; to be called by whoever has the turn."""
        if self._waiting and self._depth == 1:
            self.__exit__(None, None, None)
            self.__enter__()

    def _wait(self, gate: threading.Lock) -> None:
        """Wait for the gate to open: then the turn is this thread's."""
        try:
            gate.acquire()
        except BaseException:  # Ctrl-C: leave the queue, or hand on what came just now
            with self._mutex:
                waiting = gate in self._waiting
                if waiting:
                    self._waiting.remove(gate)
            if not waiting:
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        with self._mutex:
            # Between two owners it is nobody's, but not free either: -1 is no thread's number.
            self._owner = -1 if self._waiting else None
            if self._waiting:
                self._waiting.popleft().release()


TURNS: Final = Turns()
"""The turns of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURNS._reset)  # noqa: SLF001 - the lock's own module
