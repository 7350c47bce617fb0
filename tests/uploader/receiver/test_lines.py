"""Cutting lines, fed in every split, against `bytes.split`."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.lines import Line, LineSplitter


def splitter(max_bytes: int = 10_000, max_line_bytes: int = 10_000, max_lines: int = 10_000) -> LineSplitter:
    return LineSplitter(max_bytes=max_bytes, max_line_bytes=max_line_bytes, max_lines=max_lines)


def feed(cutter: LineSplitter, data: bytes, size: int) -> list[Line]:
    lines = [line for start in range(0, len(data), size) for line in cutter.feed(data[start : start + size])]
    return [*lines, *cutter.finish()]


TEXT = st.lists(st.sampled_from([b"\n", b"\r", b" ", b"\t", b"a", b"bc", "é".encode(), b"\x0b"]), max_size=60).map(
    b"".join
)


@given(data=TEXT, size=st.integers(1, 80))
def test_any_split_gives_the_lines(data: bytes, size: int) -> None:
    expected = []
    offset = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip(b" \t\r\n\x0b\x0c"):
            expected.append(Line(number, offset, line))
        offset += len(line) + 1
    cutter = splitter()
    assert feed(cutter, data, size) == expected
    assert cutter.size == len(data)
    assert cutter.lines == data.count(b"\n") + bool(data and not data.endswith(b"\n"))


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("limits", "data", "code"),
    [
        ({"max_line_bytes": 5}, b"12345\n123456\n", "trace_too_large"),
        ({"max_line_bytes": 5}, b"123456", "trace_too_large"),
        ({"max_bytes": 5}, b"1\n2\n34", "upload_too_large"),
        ({"max_lines": 2}, b"1\n\n3\n", "too_many_traces_in_upload"),
        ({"max_lines": 2}, b"1\n2\n3", "too_many_traces_in_upload"),
    ],
)
def test_limits(limits: dict[str, int], data: bytes, code: str, size: int) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        feed(splitter(**limits), data, size)
    assert caught.value.code == code


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("limits", "data"),
    [({"max_line_bytes": 5}, b"12345\n12345"), ({"max_bytes": 5}, b"12345"), ({"max_lines": 2}, b"1\n2\n")],
)
def test_the_limit_itself_is_allowed(limits: dict[str, int], data: bytes, size: int) -> None:
    assert [line.data for line in feed(splitter(**limits), data, size)] == data.split()


def test_an_unfinished_line_stops_at_the_limit() -> None:
    cutter = splitter(max_bytes=10**9, max_line_bytes=100)
    with pytest.raises(RequestRefusedError, match="Line 1"):
        list(itertools.chain.from_iterable(map(cutter.feed, [bytes(50)] * 3)))
