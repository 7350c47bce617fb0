"""What the receiving side has, as both sides know it.

The sender notes what it has sent, the receiver what has arrived; both change their ledger by the same operations, so
that they cannot drift apart. The sender's has digests alone. A ledger is never changed in place: a delta makes a new
one, and until that is there the old one counts.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import orjson
import xxhash

from encoder.delta.operations import Items, Keep, Operation, Shape, Traces, Value
from encoder.delta.texts import Text
from encoder.errors import MalformedDeltaError

# Operations or digests that are gone through between two moments to give way: a microsecond or two each.
_AT_ONCE: Final = 128

RUN: Final = "run"
"""The field that says which run a record belongs to: always sent, as null where there is none."""

TRACES: Final = "traces"
"""The field of an episode whose items are told one by one, and grow by themselves."""

# A change: an operation, and its value; `NO_TEXT` where it has none.
Change = tuple[Operation, Text]


@dataclass(slots=True)
class Holder:
    """An episode without its traces, or a trace.

    Attributes:
        fields: the names of its fields, in order.
        lists: those that are sent item by item.
        values: the others' values.
        chunks: the parts of each list.
        lengths: how many items each list has.
        pending: the messages that no node holds yet, None before there were any.
    """

    fields: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    values: dict[str, Text] = field(default_factory=dict)
    chunks: dict[str, list[Text]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    pending: Text | None = None


class _Draft:
    """A holder that is being changed: a copy, of whose lists each is copied before its first change."""

    def __init__(self, holder: Holder) -> None:
        self.holder = replace(
            holder, values=holder.values.copy(), chunks=holder.chunks.copy(), lengths=holder.lengths.copy()
        )
        self._owned: set[str] = set()

    def take(self, operation: Operation, text: Text) -> None:
        """Apply one operation.

        Raises:
            MalformedDeltaError: it does not fit.
        """
        holder = self.holder
        if isinstance(operation, Shape):
            holder.fields, holder.lists = tuple(operation.fields), tuple(operation.lists)
        elif isinstance(operation, Value):
            holder.values[operation.name] = text
        elif isinstance(operation, Items):
            chunks = self._chunks(operation.name)
            if operation.chunk > len(chunks):
                raise MalformedDeltaError(f"{operation.name} has {len(chunks)} parts, too few for {operation.chunk}")
            self._splice(operation.name, slice(operation.chunk, operation.chunk + 1), [text])
        elif isinstance(operation, Keep):
            self._chunks(operation.name)
            self._splice(operation.name, slice(operation.chunks, None), [])
        else:
            holder.pending = text

    def _chunks(self, name: str) -> list[Text]:
        chunks = self.holder.chunks
        if name not in self._owned:
            self._owned.add(name)
            chunks[name] = chunks.get(name, []).copy()
        return chunks[name]

    def _splice(self, name: str, where: slice, texts: list[Text]) -> None:
        """Put some chunks in the place of others."""
        chunks, lengths = self.holder.chunks[name], self.holder.lengths
        lengths[name] = lengths.get(name, 0) + sum(t.count for t in texts) - sum(t.count for t in chunks[where])
        chunks[where] = texts

    def settled(self) -> Holder:
        """The holder without what is no field any more.

        Raises:
            MalformedDeltaError: a field has no value.
        """
        holder, lists = self.holder, set(self.holder.lists)
        plain = set(holder.fields) - lists
        holder.values = {name: text for name, text in holder.values.items() if name in plain}
        holder.chunks = {name: chunks for name, chunks in holder.chunks.items() if name in lists}
        holder.lengths = {name: length for name, length in holder.lengths.items() if name in lists}
        missing = (plain - holder.values.keys()) | (lists - set(holder.fields))
        if missing:
            raise MalformedDeltaError(f"nothing is said of {', '.join(sorted(missing))}")
        return holder


@dataclass(frozen=True, slots=True)
class Ledger:
    """All that has been sent, or has arrived, of one attempt.

    Attributes:
        record: the episode without its traces, or the trace that is the record.
        traces: an episode's traces by their numbers, in order.
    """

    record: Holder = field(default_factory=Holder)
    traces: dict[int, Holder] = field(default_factory=dict)

    def changed(self, changes: Iterable[Change]) -> "Generator[None, None, Ledger]":
        """What it is behind a delta; this one stays as it is.

        Raises:
            MalformedDeltaError: an operation does not fit.
        """
        numbers = list(self.traces)
        record = _Draft(self.record)
        drafts: dict[int, _Draft] = {}
        for position, (operation, text) in enumerate(changes, start=1):
            if isinstance(operation, Traces):
                numbers = operation.numbers
            elif operation.trace is None:
                record.take(operation, text)
            else:
                number = operation.trace
                if number not in drafts:
                    drafts[number] = _Draft(self.traces.get(number, Holder()))
                drafts[number].take(operation, text)
            if not position % _AT_ONCE:
                yield
        settled = {}
        for number, draft in drafts.items():
            settled[number] = draft.settled()
            yield
        if not settled.keys() <= set(numbers):
            raise MalformedDeltaError(f"there is no trace of the number {min(settled.keys() - set(numbers))}")
        known = self.traces | settled
        return Ledger(record.settled(), {number: known.get(number, Holder()) for number in numbers})

    def texts(self) -> list[Text]:
        """All values and chunks."""
        found: list[Text] = []
        for holder in (self.record, *self.traces.values()):
            found += holder.values.values()
            for chunks in holder.chunks.values():
                found += chunks
        return found

    def digest(self) -> Generator[None, None, str]:
        """The digest of the whole, by those of its parts."""
        hasher = xxhash.xxh3_128()
        passed = 0
        for holder in (self.record, *self.traces.values()):
            hasher.update(orjson.dumps([holder.fields, holder.lists]))
            for name in holder.fields:
                texts = holder.chunks.get(name, ()) if name in holder.lists else (holder.values[name],)
                for text in texts:
                    hasher.update(text.digest)
                    passed += 1
                    if not passed % _AT_ONCE:
                        yield
        return hasher.hexdigest()
