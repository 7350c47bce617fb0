"""Write what a record has that the receiving side has not: what grew, what changed, what is pending.

A list that grows is sent in chunks, each of some items that are encoded together. Whether a chunk has changed is known
once it is encoded anew, so that is done with the newest one, whose items a rollout may still work on, and with all of
them where the delta is to be thorough.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import RootModel

from encoder.delta.finding import sources_of
from encoder.delta.ledger import RUN, TRACES, Holder, Ledger
from encoder.delta.lines import LineWriter
from encoder.delta.operations import Items, Keep, Pending, Shape, Traces, Value
from encoder.delta.sources import Pieces, Source
from encoder.delta.texts import Text, known
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

# Traces by what they are known by: their ids, and which of those with the same id they are.
Names = dict[tuple[str, int], int]

# Messages that no node holds yet, by the id of their trace.
Previews = Mapping[Any, Sequence[Any]]


@dataclass(slots=True)
class Growth:
    """What is written into one line.

    Attributes:
        line: the line.
        model: the record, as it is at one moment.
        arguments: those of `model_dump`, without `mode`.
        ledger: what the receiving side has.
        names: how it knows the traces; in the end how it will know them.
        previews: the messages that are pending.
        thorough: whether all is looked at again.
    """

    line: LineWriter
    model: Any
    arguments: Mapping[str, Any]
    ledger: Ledger
    names: Names
    previews: Previews
    thorough: bool

    def steps(self) -> Iterator[None]:
        """Write it, and yield where it is a good moment to give way.

        Raises:
            EncodeError: a value cannot be written.
            DeltaStateError: the record is not written as an object.
        """
        run = Run({name: value for name, value in self.arguments.items() if name != "exclude"})
        root, traces = yield from sources_of(self.model, run, self.arguments)
        numbers = yield from self._numbers(traces or ())
        if numbers != list(self.ledger.traces):
            self.line.note(Traces(numbers))
        holder = self.ledger.record
        yield from self._holder(None, root, holder, has_traces=traces is not None)
        if traces is None:
            yield from self._pending(None, self.previews.get(root.id, ()), holder)
        for number, source in zip(numbers, traces or (), strict=True):
            holder = self.ledger.traces.get(number, Holder())
            yield from self._holder(number, source, holder)
            yield from self._pending(number, self.previews.get(source.id, ()), holder)

    def _numbers(self, traces: Sequence[Source]) -> Generator[None, None, list[int]]:
        """The number of each trace: the one that it had, or a new one."""
        names: Names = {}
        met: Counter[str] = Counter()
        next_number = max(self.names.values(), default=-1) + 1
        for source in traces:
            name = (str(source.id), met[str(source.id)])
            met[name[0]] += 1
            names[name] = self.names.get(name, next_number)
            next_number += name not in self.names
            if not len(names) % _NAMES_AT_ONCE:
                yield
        self.names = names
        return list(names.values())

    def _holder(
        self, number: int | None, source: Source, holder: Holder, *, has_traces: bool = False
    ) -> Iterator[None]:
        """Write what is new of an episode or a trace."""
        values = dict((yield from source.values()))
        if RUN in source.fields:
            values.setdefault(RUN, [b"null"])
        lists = [name for name in source.fields if name in source.lengths or (has_traces and name == TRACES)]
        fields = [name for name in source.fields if name in values or name in lists]
        if (tuple(fields), tuple(lists)) != (holder.fields, holder.lists):
            self.line.note(Shape(number, fields, lists))
        for name in filter(values.__contains__, fields):
            pieces = values[name]
            text = yield from known(pieces)
            if not _is_same(holder.values.get(name), text):
                yield from self.line.add(Value(number, name, text.size), text, pieces, _BARE)
        for name, length in source.lengths.items():
            yield from self._list(number, name, source, length, holder)

    def _list(self, number: int | None, name: str, source: Source, length: int, holder: Holder) -> Iterator[None]:
        """Write what is new of a list."""
        chunks = holder.chunks.get(name, [])
        kept, end = len(chunks), holder.lengths.get(name, 0)
        while end > length:
            kept -= 1
            end -= chunks[kept].count
        if kept < len(chunks):
            self.line.note(Keep(number, name, kept))
        first = 0 if self.thorough else max(0, kept - 1)
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
                pieces += [b",", *some] if pieces and some else some
            yield from self._chunk(Items(number, name, kept, end - start, 0), pieces, None)
            kept += 1

    def _chunk(self, operation: Items, pieces: Pieces, before: Text | None) -> Iterator[None]:
        """Write a chunk, unless it is as it was."""
        text = yield from known(pieces, operation.num_items)
        if not _is_same(before, text):
            operation = operation._replace(size=text.size + sum(map(len, _BRACKETS)))
            yield from self.line.add(operation, text, pieces, _BRACKETS)

    def _pending(self, number: int | None, messages: Sequence[Any], holder: Holder) -> Iterator[None]:
        """Write the messages that no node holds yet, where they have changed."""
        pieces: Pieces = []
        if messages:
            arguments = {name: value for name, value in self.arguments.items() if name != "exclude"}
            yield from splice_into(pieces, RootModel[list[Any]].model_construct(list(messages)), arguments)
        elif holder.pending is not None:
            pieces = _NOTHING
        text = yield from known(pieces)
        if pieces and not _is_same(holder.pending, text):
            yield from self.line.add(Pending(number, text.size), text, pieces, _BARE)


def _is_same(before: Text | None, text: Text) -> bool:
    return before is not None and before.digest == text.digest
