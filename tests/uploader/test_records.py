import json
import pickle
from collections import OrderedDict
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from uploader.errors import RecordError, TraceTooLargeError
from uploader.limits import CHUNK_BYTES
from uploader.records import record_pieces, whole_record


class Iterating:
    """Has every way to be written; `iter_json` is the one to use."""

    def __init__(self, *pieces: Any) -> None:
        self.pieces = pieces

    def iter_json(self) -> Iterator[Any]:
        yield from self.pieces

    def to_json(self) -> None:
        raise AssertionError

    to_record = to_json


class Encoding:
    def __init__(self, encoded: Any) -> None:
        self.encoded = encoded

    def to_json(self) -> Any:
        return self.encoded

    def to_record(self) -> None:
        raise AssertionError


class Recording:
    def __init__(self, record: Any) -> None:
        self.record = record

    def to_record(self) -> Any:
        return self.record


class Point(BaseModel):
    x: int


def line_of(record: Any, **options: Any) -> Any:
    pieces, size = whole_record(record, 1, **options)
    line = b"".join(pieces)
    assert all(type(piece) is bytes for piece in pieces)
    assert len(line) == size
    return line


@pytest.mark.parametrize(
    "record",
    [
        b'{"a":1}',
        b'{"a":1}\n',
        bytearray(b'{"a":1}'),
        bytearray(b'{"a":1}\n'),
        memoryview(b'{"a":1}'),
        memoryview(b'}1:"a"{')[::-1],
        {"a": 1},
        OrderedDict(a=1),
        MappingProxyType({"a": 1}),
        Iterating(b'{"a"', b"", b":1}"),
        Iterating(b'{"a":1}', b"\n"),
        Iterating(b'{"a":1}\n', b""),
        Iterating(bytearray(b'{"a":1}')),
        Encoding(b'{"a":1}'),
        Encoding('{"a":1}'),
        Encoding(memoryview(b'{"a":1}')),
        Recording({"a": 1}),
        Recording(MappingProxyType({"a": 1})),
    ],
    ids=lambda record: type(record).__name__,
)
def test_every_kind_of_record_is_one_line(record: Any) -> None:
    assert line_of(record) == b'{"a":1}\n'


def test_encoded_line_is_one_piece_and_not_copied() -> None:
    line = b'{"a":1}\n'
    assert [piece is line for piece in record_pieces(line)] == [True]
    pieces, _ = whole_record(line, 1)
    assert [piece is line for piece in pieces] == [True]


def test_encoded_line_keeps_its_carriage_return() -> None:
    assert line_of(b"{}\r\n") == b"{}\r\n"


def test_changing_a_buffer_later_changes_nothing() -> None:
    buffer = bytearray(b"1" * (CHUNK_BYTES + 10))
    pieces, _ = whole_record(buffer, 1)
    buffer[:] = b"2" * len(buffer)
    assert b"".join(pieces) == b"1" * (CHUNK_BYTES + 10) + b"\n"
    assert max(map(len, pieces)) <= CHUNK_BYTES


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=5)))
def test_mapping_is_what_orjson_writes(record: Any) -> None:
    assert line_of(record) == orjson.dumps(record) + b"\n"


def test_mapping_may_hold_arrays_models_and_mappings() -> None:
    record = {"ids": np.arange(3), "point": Point(x=1), "more": MappingProxyType({"own": Recording([2])})}
    assert json.loads(line_of(record)) == {"ids": [0, 1, 2], "point": {"x": 1}, "more": {"own": [2]}}


@pytest.mark.parametrize("record", [b"{}\n{}", b"{}\n\n", b"\n{}", Iterating(b"{}\n", b"{}"), Encoding("{\n}")])
def test_record_of_several_lines_is_refused(record: Any) -> None:
    with pytest.raises(RecordError, match="line feed") as caught:
        whole_record(record, 7)
    assert (caught.value.line_number, caught.value.index) == (7, 6)


def test_line_feed_far_inside_a_long_piece_is_found() -> None:
    for position in (CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES):
        line = bytearray(b"1" * (3 * CHUNK_BYTES + 2))
        line[position] = 0x0A
        with pytest.raises(RecordError, match="line feed"):
            whole_record(bytes(line), 1)


def test_long_line_is_looked_through_with_pauses() -> None:
    pauses = []
    whole_record(b"1" * (4 * CHUNK_BYTES), 1, pause=lambda: pauses.append(True))
    assert len(pauses) == 3


@pytest.mark.parametrize("record", [b"", b"\n", b" \t\r\n", Iterating(), Iterating(b" ", b" \n")])
def test_blank_record_is_refused(record: Any) -> None:
    with pytest.raises(RecordError, match="blank"):
        whole_record(record, 1)


@pytest.mark.parametrize(
    ("record", "hint"),
    [
        ("{}", "text.encode()"),
        (Point(x=1), "encoder.to_json"),
        (3, "int"),
        (None, "NoneType"),
        ([{}], "list"),
    ],
)
def test_what_is_no_record_is_refused_with_a_hint(record: Any, hint: Any) -> None:
    with pytest.raises(RecordError, match="cannot be a record") as caught:
        whole_record(record, 3)
    assert hint in str(caught.value)
    assert "index 2" in str(caught.value)


@pytest.mark.parametrize(
    "record",
    [{"a": object()}, {"a": 1 << 70}, {"a": "\ud800"}, {1: 2}, Iterating(b"[", 3), Encoding(object())],
)
def test_failure_of_a_record_is_a_typed_error_with_its_cause(record: Any) -> None:
    with pytest.raises(RecordError) as caught:
        whole_record(record, 4)
    assert caught.value.line_number == 4
    assert isinstance(caught.value.__cause__, TypeError | ValueError)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.line_number, copy.reason) == (4, caught.value.reason)


def test_interrupt_is_no_failure_of_the_record() -> None:
    class Interrupted:
        def iter_json(self) -> Iterator[Any]:
            raise KeyboardInterrupt
            yield b""

    with pytest.raises(KeyboardInterrupt):
        whole_record(Interrupted(), 1)


@pytest.mark.parametrize("record", [b"12345678", b"12345678\n", Iterating(b"1234", b"5678"), {"a": 10}])
def test_the_longest_line_passes_and_one_byte_more_does_not(record: Any) -> None:
    assert len(line_of(record, max_line_bytes=8)) == 9
    with pytest.raises(TraceTooLargeError) as caught:
        whole_record(record, 5, max_line_bytes=7)
    assert (caught.value.line_number, caught.value.size, caught.value.limit) == (5, 8, 7)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)


def test_pieces_of_a_record_that_is_too_long_are_let_go() -> None:
    held = 0
    most_held = 0

    class Piece(bytes):
        def __del__(self) -> None:
            nonlocal held
            held -= 1

    class Endless:
        def iter_json(self) -> Iterator[Any]:
            nonlocal held, most_held
            for _ in range(100):
                held += 1
                most_held = max(most_held, held)
                yield Piece(b"1" * 10)

    with pytest.raises(TraceTooLargeError) as caught:
        whole_record(Endless(), 1, max_line_bytes=95)
    assert caught.value.size == 1000
    assert most_held <= 12
