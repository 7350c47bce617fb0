"""Read a delta's line by counting, from its end; values are cut out and never looked at."""

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from dataclasses import fields
from itertools import accumulate
from typing import Any, Final, TypeAlias, get_args

import orjson

from encoder.delta.ledger import Change
from encoder.delta.lines import AT, DELTA, HEAD, KINDS, OPS, STATES, VERSION, DeltaInfo
from encoder.delta.operations import Items, Operation, Pending, Value, from_wire, is_count
from encoder.delta.texts import NO_TEXT, Text, kept
from encoder.errors import DeltaVersionError, MalformedDeltaError
from encoder.stepwise import finish

Bytes: TypeAlias = bytes | bytearray | memoryview
"""What bytes may come in."""

# The end of a line, from the comma before `at` on.
_TAIL_BYTES: Final = 64
_TAIL: Final = re.compile(re.escape(AT) + rb"(\d{1,18})\}\r?\n?\Z")

# Longer than any `delta` that was written.
_MOST_INFO_BYTES: Final = 1024 * 1024

# Bytes of a value that are copied between two moments to give way: some tens of microseconds, with the page faults.
_COPIED_AT_ONCE: Final = 256 * 1024

_NO_ITEMS: Final = 2
"""Bytes of an array without items."""


class Line:
    """One line, in one piece or several.

    Args:
        line: its bytes; an LF at its end may be missing.

    Raises:
        TypeError: it is neither bytes nor a sequence of them.
        MalformedDeltaError: it is cut off, or no delta at all.
        DeltaVersionError: it is of a version that is not known here.
    """

    def __init__(self, line: Bytes | Sequence[Bytes]) -> None:
        if isinstance(line, str) or not isinstance(line, (*get_args(Bytes), Sequence)):
            raise TypeError(f"a line is bytes or a sequence of bytes, not {type(line).__name__}")
        pieces: Sequence[Any] = [line] if isinstance(line, get_args(Bytes)) else line
        self._pieces = [piece for piece in pieces if len(piece)]
        self._ends = list(accumulate(map(len, self._pieces)))
        self._size = self._ends[-1] if self._ends else 0
        self.info, self._sizes, self._ops_end = self._read_info()

    def cut(self, start: int, size: int) -> Generator[None, None, list[bytes]]:
        """The bytes from a position on, copied in parts."""
        found: list[bytes] = []
        while size > 0:
            index = bisect_right(self._ends, start)
            piece = self._pieces[index]
            inside = start - self._ends[index] + len(piece)
            part = piece[inside : inside + min(size, _COPIED_AT_ONCE)]
            found.append(part if type(part) is bytes else bytes(part))
            start += len(part)
            size -= len(part)
            if size:
                yield
        return found

    def _small(self, start: int, end: int) -> bytes:
        """A few bytes; fewer where the line is shorter."""
        start, end = max(0, start), min(end, self._size)
        return b"".join(finish(self.cut(start, end - start)))

    def _expect(self, start: int, wanted: bytes) -> None:
        if start < 0 or self._small(start, start + len(wanted)) != wanted:
            raise MalformedDeltaError(f"it should have {wanted!r} at byte {start}; was it changed on its way?")

    def _read_info(self) -> tuple[DeltaInfo, list[int], int]:
        """What it says of itself, the sizes of its groups of operations, and where these end."""
        tail = _TAIL.search(self._small(self._size - _TAIL_BYTES, self._size))
        if tail is None:
            raise MalformedDeltaError("it has no end: the line is cut off, or is no delta")
        at, end = int(tail[1]), max(0, self._size - _TAIL_BYTES) + tail.start()
        if not 0 < end - at <= _MOST_INFO_BYTES:
            raise MalformedDeltaError(f"its end says that it begins at byte {at}, and {end} bytes stand before that")
        try:
            said = orjson.loads(self._small(at, end))
        except orjson.JSONDecodeError as error:
            raise MalformedDeltaError(f"what it says of itself is no JSON: {error}") from None
        info, sizes = _read(said)
        self._expect(at - len(DELTA), DELTA)
        self._expect(0, HEAD)
        return info, sizes, at - len(DELTA)

    def changes(self) -> Generator[None, None, list[Change]]:
        """What it says, with the values.

        Raises:
            MalformedDeltaError: that does not fit into its bytes.
        """
        found: list[Change] = []
        start = self._ops_end - sum(self._sizes) - max(0, len(self._sizes) - 1)
        parts_end = start - len(OPS)
        position = len(HEAD)
        self._expect(parts_end, OPS)
        for size in self._sizes:
            for operation in _operations(self._small(start, start + size)):
                if isinstance(operation, Value | Items | Pending):
                    if position > len(HEAD):
                        self._expect(position - 1, b",")
                    if position + operation.size > parts_end:
                        raise MalformedDeltaError(f"it ends inside of {operation}")
                    found.append((operation, (yield from self._text(operation, position))))
                    position += operation.size + 1
                    yield
                else:
                    found.append((operation, NO_TEXT))
            start += size + 1
        if position - (position > len(HEAD)) != parts_end:
            raise MalformedDeltaError(f"{parts_end - position} bytes belong to no operation")
        return found

    def _text(self, operation: Value | Items | Pending, start: int) -> Generator[None, None, Text]:
        size = operation.size
        if not isinstance(operation, Items):
            if not size:
                raise MalformedDeltaError(f"{operation} has no value")
            return (yield from kept((yield from self.cut(start, size))))
        if size < _NO_ITEMS:
            raise MalformedDeltaError(f"{operation} is no array")
        self._expect(start, b"[")
        self._expect(start + size - 1, b"]")
        return (yield from kept((yield from self.cut(start + 1, size - _NO_ITEMS)), operation.num_items))


def peek(line: Bytes | Sequence[Bytes]) -> DeltaInfo:
    """Tell whose delta a line is, without reading it: to feed it to the assembly that it belongs to.

    Args:
        line: its bytes, or pieces of them.

    Raises:
        MalformedDeltaError: it is cut off, or no delta at all.
        DeltaVersionError: it is of a version that is not known here.
    """
    return Line(line).info


def _read(said: Any) -> tuple[DeltaInfo, list[int]]:
    """What a line says of itself, and the sizes of its groups of operations."""
    if not isinstance(said, dict) or "version" not in said:
        raise MalformedDeltaError("it does not say of which version it is")
    if said["version"] != VERSION or type(said["version"]) is not int:
        raise DeltaVersionError(said["version"], VERSION)
    digest_type = str if said.get("state") == "last" else type(None)
    sizes = said.get("ops")
    if not (
        said.keys() >= {field.name for field in fields(DeltaInfo)}
        and type(said["stream"]) is str
        and is_count(said.get("attempt"))
        and is_count(said.get("sequence"))
        and said.get("kind") in KINDS
        and said.get("state") in STATES
        and type(said.get("digest")) is digest_type
        and type(sizes) is list
        and all(map(is_count, sizes))
    ):
        raise MalformedDeltaError(f"what it says of itself is not what a delta says: {str(said)[:200]}")
    return DeltaInfo(*(said[field.name] for field in fields(DeltaInfo))), sizes


def _operations(group: bytes) -> Iterator[Operation]:
    try:
        arrays = orjson.loads(group)
    except orjson.JSONDecodeError as error:
        raise MalformedDeltaError(f"its operations are no JSON: {error}") from None
    if not isinstance(arrays, list):
        raise MalformedDeltaError("its operations are no array")
    return map(from_wire, arrays)
