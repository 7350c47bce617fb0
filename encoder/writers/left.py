"""Neighbours that are left to pydantic: many by one call, where they are light and it is quick with them.

A call of pydantic costs microseconds, what it does to a small value less than one: a list of small models that have a
date each would take many times as long one by one. How heavy values are is told before they are dumped, by what they
hold; how long the user's own serializers take, by the last call.
"""

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, Final, Generic, TypeAlias, TypeVar

from encoder.compiled import IS_COMPILED, native
from encoder.filters import WHOLE, Kept
from encoder.paths import PATHS
from encoder.writers.base import LEFT_WEIGHT, MAX_WEIGHT, LazySerializer, Run, Steps, Unwritable
from encoder.writers.calls import dumped, dumps
from encoder.writers.gather import ItemGatherer, MemberGatherer, shifted
from encoder.writers.trees import write_tree
from encoder.writers.weights import weigh

G = TypeVar("G", ItemGatherer, MemberGatherer)

# A key and its value.
Member: TypeAlias = tuple[Any, Any]

# What a call may take, about: less than may pass without a moment to give way.
_MOST_S: Final = 0.25e-3

# Values that are dumped by one call: at the most, at first, and where nothing tells how heavy they are.
_MANY: Final = 1024
_FIRST: Final = 16
UNWEIGHED: Final = 32

# What pydantic makes of light values may weigh so much: dicts with their keys, where there were objects.
_MOST_DUMPED: Final = 4 * LEFT_WEIGHT


def are_light(values: list[Any], most: int = LEFT_WEIGHT) -> bool:
    """Whether one call may write some values; False where nothing can tell.

    Args:
        values: all of them.
        most: what they may weigh together.
    """
    return IS_COMPILED and PATHS.compiled and native.light(values, 0, len(values), most, most) == len(values)


class AtOnce:
    """How many neighbours in one list or dict are dumped by one call."""

    __slots__ = ("_count", "_is_bounded", "_next", "is_on")

    def __init__(self, *, is_bounded: bool = False) -> None:
        """Args: whether all values are small, whatever they are."""
        self._is_bounded = is_bounded
        # Whether anything is known of how heavy values are.
        self.is_on = is_bounded or (IS_COMPILED and PATHS.compiled)
        self._count = _FIRST
        self._next = -1

    def stop(self, items: list[Any], start: int, end: int, most: int = LEFT_WEIGHT) -> int:
        """The index behind the last of the items that are dumped together; `start` where the first is too heavy.

        Args:
            items: a list.
            start: the index of the first.
            end: the index behind the last that there is.
            most: what one may weigh.
        """
        if not self.is_on:
            return start
        if start != self._next:  # what came between had no need of pydantic, and neither may what follows
            self._count = _FIRST if self._is_bounded else 1
        stop = min(start + self._count, end)
        return stop if self._is_bounded else native.light(items, start, stop, LEFT_WEIGHT, most)

    def took(self, start: int, stop: int, seconds: float) -> None:
        """Learn from a call.

        Args:
            start: the index of the first that was dumped.
            stop: the index behind the last.
            seconds: how long it took.
        """
        self._next = stop
        if seconds > _MOST_S:
            self._count = max(1, int((stop - start) * _MOST_S / seconds))
        elif stop - start >= self._count:
            self._count = min(2 * self._count, _MANY)


def text_of(tree: Any, depth: int) -> bytes | None:
    """The inside of a list's or dict's text, where one call may write it; it stands inside of `depth` containers.

    Raises:
        Unwritable: orjson refuses it.
    """
    return dumps(tree, depth)[1:-1] if are_light([tree], _MOST_DUMPED) else None


class _Left(Generic[G]):
    """Has pydantic dump neighbours in one list or dict, as it dumps them inside of the whole.

    Args:
        serializer: of lists or dicts of such.
        run: the state of this encoding.
        gatherer: of the list or dict.
        depth: the containers that it stands in.
        is_bounded: whether all values are small, whatever they are.
    """

    __slots__ = ("_serializer", "at_once", "depth", "gatherer", "run")

    def __init__(
        self,
        serializer: LazySerializer,
        run: Run,
        gatherer: G,
        depth: int,
        is_bounded: bool,
    ) -> None:
        self._serializer = serializer
        self.run = run
        self.gatherer: G = gatherer
        self.depth = depth
        self.at_once = AtOnce(is_bounded=is_bounded)

    def _write(self, text: bytes | None, parts: Iterable[tuple[Any, Any]]) -> Steps:
        """Write what was dumped: its text, or where there is none each part, by its label and tree."""
        if text:
            self.gatherer.write(text)
        for label, tree in parts if text is None else ():
            room = weigh(tree, MAX_WEIGHT)
            if room < 0:
                self.gatherer.separate(label)
                yield label, write_tree(tree, self.run, self.depth + 1)
            elif self.gatherer.add(label, tree, MAX_WEIGHT - room):
                yield None


class LeftItems(_Left[ItemGatherer]):
    """Of a list."""

    __slots__ = ()

    def all_of(self, value: list[Any], length: int) -> Steps:
        """Write all items of a list."""
        start = 0
        while start < length:
            stop = min(start + UNWEIGHED, length)
            if self.at_once.is_on:
                stop = max(start + 1, self.at_once.stop(value, start, length))
            items = value[start:stop]
            if not items:  # a serializer, or another thread, has taken some away
                return
            yield from self.some(items, start)
            yield None
            start = stop

    def light(self, value: list[Any], start: int, end: int, most: int, large: Callable[[int, Any], Steps]) -> Steps:
        """Write the items between two indexes: light neighbours whole, each of the others by steps of its own.

        Args:
            value: the list.
            start: the index of the first.
            end: the index behind the last.
            most: what a light one may weigh.
            large: gives the steps of another, by its index and itself.
        """
        while start < end:
            stop = self.at_once.stop(value, start, end, most)
            items = value[start : max(stop, start + 1)]
            if not items:  # a serializer, or another thread, has taken some away
                return
            if stop > start:
                yield from self.some(items, start)
                yield None
            else:
                yield from large(start, items[0])
            start += len(items)

    def some(self, items: list[Any], start: int, kept: Kept = WHOLE) -> Steps:
        """Write some items, of which the first has this index in the list."""
        _, include, exclude = kept
        self.gatherer.flush()  # a serializer of the user's may change what is held
        before_s = perf_counter()
        try:
            trees = dumped(
                self._serializer(),
                items,
                self.run,
                include=None if include is None else {0: include},
                exclude=None if exclude is None else {0: exclude},
            )
            self.at_once.took(start, start + len(items), perf_counter() - before_s)
            text = text_of(trees, self.depth)
        except Unwritable as error:
            raise shifted(error, start) from error.__cause__
        yield from self._write(text, enumerate(trees, start))


class LeftMembers(_Left[MemberGatherer]):
    """Of a dict."""

    __slots__ = ()

    def some(self, members: Sequence[Member], position: int) -> Steps:
        """Write some members, of which the first has this position among those that are looked at."""
        self.gatherer.flush()  # a serializer of the user's may change what is held
        before_s = perf_counter()
        tree = dumped(self._serializer(), dict(members), self.run)
        self.at_once.took(position, position + len(members), perf_counter() - before_s)
        yield from self._write(text_of(tree, self.depth), tree.items())
