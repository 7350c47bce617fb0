"""Have the splicer write a model's fields one by one, so that each is known by its own bytes."""

from typing import Any

from encoder.writers.base import Run
from encoder.writers.calls import dumps
from encoder.writers.gather import MemberGatherer


class FieldGatherer(MemberGatherer):
    """Takes the members of one object, each written at once, and remembers where it begins."""

    __slots__ = ("_begins", "_out")

    def __init__(self, run: Run, depth: int) -> None:
        """Args: `depth` counts the containers that the object stands in."""
        super().__init__(run, depth)
        self._out = run.out
        self._begins: list[tuple[str, int]] = []

    def add(self, key: str, value: Any, weight: int) -> bool:
        """Write a simple member."""
        self._begins.append((key, len(self._out)))
        super().add(key, value, weight)
        self.flush()
        return True

    def separate(self, key: str) -> None:
        """Write the key of a member that is written by itself."""
        self._begins.append((key, len(self._out)))
        super().separate(key)

    def texts(self) -> dict[str, list[bytes]]:
        """The pieces of each member's value, once the object is written; they are taken out of the run."""
        found = {}
        end = len(self._out) - 1  # before the object's brace
        for key, begin in reversed(self._begins):
            found[key] = _value(key, self._out[begin:end])
            end = begin
        self._out.clear()
        return dict(reversed(found.items()))


def _value(key: str, pieces: list[bytes]) -> list[bytes]:
    """The pieces of a member, without the comma before it and its key."""
    if pieces[0] == b",":
        del pieces[0]
    comma = pieces[0].startswith(b",")
    pieces[0] = pieces[0][comma + len(dumps({key: None}, 0)[1:-5]) :]
    return pieces
