"""Write what a record has that the receiving side has not: what grew, what changed, what is pending.

A list that grows is sent in chunks, each of some items that are encoded together. Whether a chunk has changed is known
once it is encoded anew, so that is done with the newest one, whose items a rollout may still work on, and with all of
them where the delta is to be thorough.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import RootModel

from encoder.delta.finding import sources_of
from encoder.delta.ledger import RUN, TRACES, Holder, Ledger
from encoder.delta.lines import LineWriter
from encoder.delta.operations import Items, Keep, Pending, Shape, Traces, Value
from encoder.delta.sources import Layouts, Pieces, Source
from encoder.delta.texts import Text, digest_of, known
from encoder.splicer import PIECE_BYTES, splice_into
from encoder.writers.base import Run

# A chunk gets no further items from so many on, or from so many bytes on.
_MOST_ITEMS: Final = 64
_MOST_BYTES: Final = PIECE_BYTES

# Items that are encoded together.
_ITEMS_AT_ONCE: Final = 8

# Traces that are looked up between two moments to give way: a microsecond each.
_NAMES_AT_ONCE: Final = 128

_BRACKETS: Final = (b"[", b"]")
_BARE: Final = (b"", b"")
_NOTHING: Final = [b"[]"]
_NULL: Final = b"null"

# Traces by what they are known by: their ids, and which of those with the same id they are.
Names = dict[tuple[str, int], int]

# Messages that no node holds yet, by the id of their trace.
Previews = Mapping[Any, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Sent:
    """What has been sent.

    Attributes:
        ledger: what the receiving side has.
        names: how it knows the traces.
        seen: what some fields held then, of each trace by its number, and of the record.
    """

    ledger: Ledger = field(default_factory=Ledger)
    names: Names = field(default_factory=dict)
    seen: dict[int | None, dict[str, Any]] = field(default_factory=dict)


class Growth:
    """What is written into one line.

    Args:
        line: the line.
        sent: what has been sent before.
        arguments: those of `model_dump`, without `mode`.
        previews: the messages that are pending.
        thorough: whether all is looked at again.
    """

    def __init__(
        self, line: LineWriter, sent: Sent, arguments: Mapping[str, Any], previews: Previews, *, thorough: bool
    ) -> None:
        self._line = line
        self._sent = sent
        self._arguments = {name: value for name, value in arguments.items() if name != "exclude"}
        self._exclude = arguments.get("exclude")
        self._previews = previews
        self._thorough = thorough
        self._seen: dict[int | None, dict[str, Any]] = {}

    def steps(self, model: Any, layouts: Layouts) -> Generator[None, None, Sent]:
        """Write it, and yield where it is a good moment to give way.

        Args:
            model: the record, as it is at one moment.
            layouts: those that were made for the last line.

        Returns:
            What will have been sent.

        Raises:
            EncodeError: a value cannot be written.
            DeltaStateError: the record is not written as an object.
        """
        before = self._sent.ledger
        root, traces = yield from sources_of(model, Run(self._arguments), self._exclude, layouts)
        names = yield from self._named(traces or ())
        numbers = list(names.values())
        if numbers != list(before.traces):
            self._line.note(Traces(numbers))
        yield from self._holder(None, root, before.record, has_traces=traces is not None)
        if traces is None:
            yield from self._pending(None, self._previews.get(root.id, ()), before.record)
        for number, source in zip(numbers, traces or (), strict=True):
            holder = before.traces.get(number, Holder())
            yield from self._holder(number, source, holder)
            yield from self._pending(number, self._previews.get(source.id, ()), holder)
        ledger = (yield from before.changed(self._line.changes)) if self._line.changes else before
        return Sent(ledger, names, self._seen)

    def _named(self, traces: Sequence[Source]) -> Generator[None, None, Names]:
        """The numbers of the traces: each has the one that it had, or a new one."""
        known, names = self._sent.names, Names()
        met: Counter[str] = Counter()
        next_number = max(known.values(), default=-1) + 1
        for source in traces:
            name = (str(source.id), met[str(source.id)])
            met[name[0]] += 1
            names[name] = known.get(name, next_number)
            next_number += name not in known
            if not len(names) % _NAMES_AT_ONCE:
                yield
        return names

    def _holder(
        self, number: int | None, source: Source, holder: Holder, *, has_traces: bool = False
    ) -> Iterator[None]:
        """Write what is new of an episode or a trace."""
        seen = {} if self._thorough else self._sent.seen.get(number, {})
        unchanged = {name for name, value in source.objects.items() if name in seen and seen[name] is value}
        self._seen[number] = source.objects
        values = yield from source.values(unchanged)
        if RUN in source.fields and RUN not in unchanged:
            values.setdefault(RUN, [_NULL])
        lists = [name for name in source.fields if name in source.lengths or (has_traces and name == TRACES)]
        present = {*values, *lists, *(unchanged & holder.values.keys())}
        fields = [name for name in source.fields if name in present]
        if (tuple(fields), tuple(lists)) != (holder.fields, holder.lists):
            self._line.note(Shape(number, fields, lists))
        for name in filter(values.__contains__, fields):
            yield from self._value(number, name, values[name], holder.values.get(name))
        for name, length in source.lengths.items():
            yield from self._list(number, name, source, length, holder)

    def _value(self, number: int | None, name: str, pieces: Pieces, before: Text | None) -> Iterator[None]:
        """Write a field's value, unless it is as it was."""
        if before is not None and len(pieces) == 1 and digest_of(pieces[0]) == before.digest:
            return
        text = yield from known(pieces)
        if not _is_same(before, text):
            yield from self._line.add(Value(number, name, text.size), text, pieces, _BARE)

    def _list(self, number: int | None, name: str, source: Source, length: int, holder: Holder) -> Iterator[None]:
        """Write what is new of a list."""
        chunks = holder.chunks.get(name, [])
        kept, end = len(chunks), holder.lengths.get(name, 0)
        while end > length:
            kept -= 1
            end -= chunks[kept].count
        if kept < len(chunks):
            self._line.note(Keep(number, name, kept))
        first = 0 if self._thorough else max(0, kept - 1)
        start = end - sum(chunk.count for chunk in chunks[first:kept])
        for position in range(first, kept):
            chunk = chunks[position]
            pieces = yield from source.items(name, start, start + chunk.count)
            start += chunk.count
            yield from self._chunk(Items(number, name, position, chunk.count, 0), pieces, chunk)
        while end < length:
            start, pieces = end, []
            while end < min(length, start + _MOST_ITEMS) and sum(map(len, pieces)) < _MOST_BYTES:
                some = yield from source.items(name, end, min(length, end + _ITEMS_AT_ONCE))
                end = min(length, end + _ITEMS_AT_ONCE)
                pieces += [b",", *some] if pieces else some
            yield from self._chunk(Items(number, name, kept, end - start, 0), pieces, None)
            kept += 1

    def _chunk(self, operation: Items, pieces: Pieces, before: Text | None) -> Iterator[None]:
        """Write a chunk, unless it is as it was."""
        text = yield from known(pieces, operation.num_items)
        if not _is_same(before, text):
            operation = operation._replace(size=text.size + sum(map(len, _BRACKETS)))
            yield from self._line.add(operation, text, pieces, _BRACKETS)

    def _pending(self, number: int | None, messages: Sequence[Any], holder: Holder) -> Iterator[None]:
        """Write the messages that no node holds yet, where they have changed."""
        pieces: Pieces = []
        if messages:
            yield from splice_into(pieces, RootModel[list[Any]].model_construct(list(messages)), self._arguments)
        elif holder.pending is not None:
            pieces = _NOTHING
        text = yield from known(pieces)
        if pieces and not _is_same(holder.pending, text):
            yield from self._line.add(Pending(number, text.size), text, pieces, _BARE)


def _is_same(before: Text | None, text: Text) -> bool:
    return before is not None and before.digest == text.digest
