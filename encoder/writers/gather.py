"""Simple neighbours, gathered until one call of orjson for all of them is worth it.

A gatherer writes the inside of one object or array: what it holds goes out by one call, without the brackets, and a
comma goes between two such calls. An item that is written by steps of its own is announced by `separate`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias

from encoder.writers.base import HOLDING_WEIGHT, MAX_WEIGHT, Label, Run, Unwritable, Verdict
from encoder.writers.calls import dumps

# An item that has no simple form: its index, itself, and why.
Found: TypeAlias = tuple[int, Any, Verdict]


class MemberGatherer:
    """Gathers members of an object."""

    __slots__ = ("_depth", "_held", "_prefix", "_run", "_weight")

    def __init__(self, run: Run, depth: int) -> None:
        """Args: `depth` counts the containers that the object stands in."""
        self._run = run
        self._depth = depth
        self._held: dict[Any, Any] = {}
        self._prefix = b""
        self._weight = 0

    def add(self, key: Any, value: Any, weight: int) -> bool:
        """Hold a simple member; True where this made what was held go out."""
        self._held[key] = value
        self._weight += weight + HOLDING_WEIGHT
        block = self._run.block
        block.kept = len(block.order)
        if self._weight < MAX_WEIGHT:
            return False
        self.flush()
        return True

    def extend(self, members: dict[str, Any], weight: int) -> bool:
        """Hold members that are numbers or text; True where this made what was held go out. The dict is taken over."""
        if self._held:
            self._held.update(members)
        else:
            self._held = members
        self._weight += weight
        if self._weight < MAX_WEIGHT:
            return False
        self.flush()
        return True

    def write(self, text: bytes) -> None:
        """Write members that are text already."""
        self.flush()
        if self._prefix:
            self._run.out.append(self._prefix)
        self._prefix = b","
        self._run.out.append(text)

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            text = dumps(self._held, self._depth)
            _write_inside(self._run, text, self._prefix)
            self._prefix = b","
            self._held = {}
            self._weight = 0

    def separate(self, key: Any) -> None:
        """Write what is held and the key of a member that is written by itself."""
        self.flush()
        self._run.out.append(self._prefix + dumps({key: None}, 0)[1:-5])
        self._prefix = b","


class ItemGatherer:
    """Gathers items of an array."""

    __slots__ = ("_depth", "_held", "_prefix", "_run", "_start", "_weight")

    def __init__(self, run: Run, depth: int) -> None:
        """Args: `depth` counts the containers that the array stands in."""
        self._run = run
        self._depth = depth
        self._held: list[Any] = []
        self._prefix = b""
        self._start = 0
        self._weight = 0

    def add(self, index: Any, value: Any, weight: int) -> bool:
        """Hold a simple item; True where this made what was held go out."""
        if not self._held:
            self._start = index
        self._held.append(value)
        self._weight += weight + HOLDING_WEIGHT
        block = self._run.block
        block.kept = len(block.order)
        if self._weight < MAX_WEIGHT:
            return False
        self.flush()
        return True

    def extend(self, index: int, items: Iterable[Any], weight: int) -> bool:
        """Hold items that are numbers or text, from an index on; True where this made what was held go out."""
        if not self._held:
            self._start = index
        self._held += items
        self._weight += weight
        if self._weight < MAX_WEIGHT:
            return False
        self.flush()
        return True

    def gather(
        self, items: Iterator[tuple[int, Any]], simple: Callable[[Any, Run], Any]
    ) -> Found | Literal[True] | None:
        """Hold simple items until what is held goes out, or one is not simple.

        Args:
            items: neighbours, each with its index; what is taken from them is dealt with.
            simple: gives an item's simple form.

        Returns:
            The item that has none, with its index and the verdict; True where what was held went out; None where there
            are no more items.
        """
        run, held, weight = self._run, self._held, self._weight
        block = run.block
        order = block.order
        index = -1
        for index, item in items:
            before = run.weight
            written = simple(item, run)
            if type(written) is Verdict:
                block.forget()
                self._start, self._weight = index - len(held), weight
                return index, item, written
            held.append(written)
            block.kept = len(order)
            weight += run.weight - before + HOLDING_WEIGHT
            if weight >= MAX_WEIGHT:
                self._start = index + 1 - len(held)
                self.flush()
                return True
        self._start, self._weight = index + 1 - len(held), weight
        return None

    def write(self, text: bytes) -> None:
        """Write items that are text already."""
        self.separate(0)
        self._run.out.append(text)

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            try:
                text = dumps(self._held, self._depth)
            except Unwritable as error:
                raise shifted(error, self._start) from error.__cause__
            _write_inside(self._run, text, self._prefix)
            self._prefix = b","
            self._held = []
            self._weight = 0

    def separate(self, index: Any) -> None:
        """Write what is held, and the comma before an item that is written by itself."""
        self.flush()
        if self._prefix:
            self._run.out.append(self._prefix)
        self._prefix = b","


def _write_inside(run: Run, text: bytes, prefix: bytes) -> None:
    """Write the inside of a container's text, with the columns that belong into it."""
    if prefix:
        run.out.append(prefix)
    if run.block.order:
        parts = run.block.fill(text)
        parts[0] = parts[0][1:]
        parts[-1] = parts[-1][:-1]
        run.out += parts
    else:
        run.out.append(text[1:-1])


def shifted(error: Unwritable, start: Label) -> Unwritable:
    """The error of a slice, its index counted from the start of the array."""
    tail = error.tail
    if tail and isinstance(tail[0], int) and isinstance(start, int):
        tail = (tail[0] + start, *tail[1:])
    return Unwritable(tail)
