import io
import tracemalloc
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import ConfigurationError, RecordError, TraceTooLargeError
from uploader.lines import file_lines, refuse_long_lines, whole_line

SMALL_BYTES = st.lists(st.sampled_from([b"\n", b"\r", b" ", b"a", b"\x0b", b"\x85", b"{}", b"\xe2\x80\xa8"])).map(
    b"".join
)


@given(SMALL_BYTES)
def test_lines_end_at_line_feeds_alone(data: bytes) -> None:
    lines = list(file_lines(io.BytesIO(data)))
    *ended, rest = data.split(b"\n")
    assert lines == [part + b"\n" for part in ended] + [rest] * bool(rest)


@given(SMALL_BYTES, st.integers(1, 6))
def test_long_line_is_refused_by_number_and_size_unless_blank(data: bytes, limit: int) -> None:
    expected = []
    failure = None
    for number, line in enumerate(io.BytesIO(data).readlines(), start=1):
        size = len(line.removesuffix(b"\n"))
        if size > limit and not line.isspace():
            failure = (number, size, limit)
            break
        expected.append(line if size <= limit else b"\n")
    lines: list[bytes] = []
    found = None
    try:
        lines.extend(file_lines(io.BytesIO(data), max_line_bytes=limit))
    except TraceTooLargeError as error:
        found = (error.line_number, error.size, error.limit)
    assert (lines, found) == (expected, failure)


def test_path_is_opened_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"{}\n\n[]")
    assert list(file_lines(path)) == list(file_lines(str(path))) == [b"{}\n", b"\n", b"[]"]
    lines = file_lines(path)
    next(lines)
    lines.close()  # an open file would warn, and a warning fails the test


def test_given_file_stays_open(tmp_path: Path) -> None:
    file = io.BytesIO(b"{}\n")
    assert list(file_lines(file)) == [b"{}\n"]
    assert not file.closed


def test_text_file_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'rb'"):
        list(file_lines(cast("BinaryIO", io.StringIO("{}\n"))))


def test_long_line_is_never_held_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b"{}\n")
        for _ in range(64):
            file.write(b"1" * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(TraceTooLargeError) as caught:
            list(file_lines(path, max_line_bytes=1_000_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (caught.value.line_number, caught.value.size) == (2, 64_000_000)
    assert peak < 4_000_000


def test_long_lines_are_found_ahead(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"1234\n12345\n")
    refuse_long_lines(path, max_line_bytes=5)
    with pytest.raises(TraceTooLargeError) as caught:
        refuse_long_lines(path, max_line_bytes=4)
    assert caught.value.line_number == 2


@pytest.mark.parametrize("line", [b"", b"\n", b" \t\r\x0b\x0c\n"])
def test_blank_line_is_left_out(line: bytes) -> None:
    assert whole_line(line, 1) is None
    assert whole_line(bytearray(line), 1) is None


@pytest.mark.parametrize("line", [b"{}\n", b"{}", b" {} \r\n", b"\x85\n", b"not json\n", b"{}\n{}\n"])
def test_kept_line_is_as_it_was(line: bytes) -> None:
    for same in (line, bytearray(line), memoryview(line)):
        assert whole_line(same, 1) == ([line], len(line))


@pytest.mark.parametrize("line", ["{}\n", 1, None, {}])
def test_line_must_be_bytes(line: bytes) -> None:
    with pytest.raises(RecordError, match="must be bytes") as caught:
        whole_line(line, 9)
    assert caught.value.line_number == 9


@pytest.mark.parametrize(("line", "size"), [(b"12345", 5), (b"12345\n", 5), (b"1234\r\n", 5), (b"12345\n\n", 5)])
def test_only_the_line_feed_is_not_counted(line: bytes, size: int) -> None:
    assert whole_line(line, 1, max_line_bytes=size) is not None
    with pytest.raises(TraceTooLargeError) as caught:
        whole_line(line, 2, max_line_bytes=size - 1)
    assert (caught.value.line_number, caught.value.size, caught.value.limit) == (2, size, size - 1)
