"""How a delta stands in its line.

    {"parts":[…],"ops":[[…],…],"delta":{…},"at":N}

`parts` has the values, as the splicer writes them. `ops` has the operations (`encoder.delta.operations`) in groups,
and with them the size of each part. `delta` is small and says whose delta it is, and how long each group is; it begins
at byte N. So a line is written in one go, whatever its length, and read without looking at the values: from its end,
by counting. Whoever only wants to look at it reads it as JSON.

Later versions keep `delta.version` and `at` where they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import orjson

from encoder.delta.ledger import Change
from encoder.delta.operations import Operation, to_wire
from encoder.delta.texts import NO_TEXT, Text

VERSION: Final = 1
"""The version of this layout, and of what the operations mean."""

HEAD: Final = b'{"parts":['
OPS: Final = b'],"ops":['
DELTA: Final = b'],"delta":'
AT: Final = b',"at":'
END: Final = b"}\n"

# Operations that are written and read by one call.
_OPERATIONS_AT_ONCE: Final = 64

# Pieces that are appended to a line between two moments to give way.
_PIECES_AT_ONCE: Final = 1024

Kind = Literal["episode", "trace"]
"""What the record is."""

State = Literal["more", "last", "discarded"]
"""Whether more is to come, the record is complete, or all that was sent is void."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
STATES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True, slots=True)
class DeltaInfo:
    """Whose delta it is.

    Attributes:
        stream: the stream's name, by default the id of the record at its beginning.
        attempt: which attempt at the record it is of, from 1; a later one makes all earlier ones void.
        sequence: its number within the attempt, from 0.
        kind: whether the record is an episode or a trace.
        state: whether more is to come, the record is complete, or the attempt is void.
        digest: of the whole record, where it is complete.
    """

    stream: str
    attempt: int
    sequence: int
    kind: Kind
    state: State = "more"
    digest: str | None = None


class LineWriter:
    """Writes one line.

    Args:
        out: where its pieces are appended; others may take them out.

    Attributes:
        changes: what it says.
        written: its bytes so far; 0 where it says nothing.
    """

    def __init__(self, out: list[bytes]) -> None:
        self.changes: list[Change] = []
        self.written = 0
        self._out = out
        self._separator = b""

    def _write(self, piece: bytes) -> None:
        self._out.append(piece)
        self.written += len(piece)

    def note(self, operation: Operation) -> None:
        """Say something that has no part."""
        if not self.written:
            self._write(HEAD)
        self.changes.append((operation, NO_TEXT))

    def add(self, operation: Operation, text: Text, pieces: list[bytes], around: tuple[bytes, bytes]) -> Iterator[None]:
        """Say something that has one.

        Args:
            operation: what is said.
            text: what the part is to be known by.
            pieces: its bytes.
            around: what stands before and behind them: the brackets of a list's items.
        """
        self.note(operation)
        self.changes[-1] = (operation, text)
        self._write(self._separator + around[0])
        self._separator = b","
        for start in range(0, len(pieces), _PIECES_AT_ONCE):
            self._out += pieces[start : start + _PIECES_AT_ONCE]
            yield
        self.written += text.size
        self._write(around[1])

    def end(self, info: DeltaInfo) -> Iterator[None]:
        """Write the operations and the end."""
        if not self.written:
            self._write(HEAD)
        self._write(OPS)
        sizes: list[int] = []
        for start in range(0, len(self.changes), _OPERATIONS_AT_ONCE):
            some = self.changes[start : start + _OPERATIONS_AT_ONCE]
            group = orjson.dumps([to_wire(operation) for operation, _ in some])
            self._write(b"," + group if sizes else group)
            sizes.append(len(group))
            yield
        self._write(DELTA)
        at = self.written
        self._write(orjson.dumps(_to_wire(info, sizes)))
        self._write(AT + b"%d" % at + END)
        yield


def _to_wire(info: DeltaInfo, sizes: list[int]) -> dict[str, Any]:
    return {
        "version": VERSION,
        "stream": info.stream,
        "attempt": info.attempt,
        "sequence": info.sequence,
        "kind": info.kind,
        "state": info.state,
        "digest": info.digest,
        "ops": sizes,
    }
