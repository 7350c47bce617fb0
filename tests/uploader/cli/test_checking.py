import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.cli.checking import BadLineError, checked_lines, line_problem
from uploader.errors import TraceTooLargeError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=10,
)


def is_record(line: bytes) -> bool:
    """The slow oracle."""

    def refuse(name: str) -> Any:
        raise ValueError(name)

    try:
        value = json.loads(line.decode(), parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates cannot be written
    except ValueError:
        return False
    return isinstance(value, dict)


@given(st.dictionaries(st.text(), VALUES, max_size=5), st.booleans())
def test_every_object_passes(value: dict[str, Any], ascii_only: bool) -> None:
    assert line_problem(json.dumps(value, ensure_ascii=ascii_only).encode() + b"\r\n") is None


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), st.data())
def test_a_damaged_line_is_judged_as_by_json(value: dict[str, Any], data: st.DataObject) -> None:
    line = bytearray(json.dumps(value).encode())
    position = data.draw(st.integers(0, len(line) - 1))
    line[position : position + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    if line and not line.isspace():
        assert (line_problem(bytes(line)) is None) == is_record(bytes(line))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a": "\xff"}', "not UTF-8: invalid start byte (near byte 7)"),
        (b"[1, 2]", "not a record: the line is JSON, but no object"),
        (b"null", "not a record: the line is JSON, but no object"),
        (b"[" * 100_000, "not usable as JSON: nested too deeply"),
    ],
)
def test_the_reason(line: bytes, problem: str) -> None:
    assert line_problem(line) == problem
    assert line_problem(line + b"\n") == problem


@pytest.mark.parametrize(
    ("line", "column"), [(b'{"a": 1', 8), (b'{"a": 1}}', 9), (b'{"a": "\\ud800"}', 8), (b"nope", 1)]
)
def test_the_column(line: bytes, column: int) -> None:
    """The words before it are orjson's."""
    for ending in (b"", b"\n", b"\r\n"):
        problem = line_problem(line + ending)
        assert problem is not None
        assert problem.startswith("not JSON: ")
        assert problem.endswith(f" (column {column})")


def test_utf8_is_checked_across_slices() -> None:
    assert line_problem(b'{"a": "' + "ж".encode() * 300_000 + b'"}') is None
    assert line_problem(b'{"ab": "' + "ж".encode() * 300_000 + b'"}') is None
    assert line_problem(b'{"a": "' + b"x" * 300_000 + b'\xd0"}') is not None


def test_lines_come_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"a": 1}\r\n\n  \n {"b": 2}')
    blanks: list[int] = []
    assert list(checked_lines(path, blanks.append)) == [b'{"a": 1}\r\n', b"\n", b"  \n", b' {"b": 2}']
    assert blanks == [2, 3]


@pytest.mark.parametrize(
    ("content", "line_number", "reason"),
    [
        (b"", 1, "the file is empty"),
        (b"\n \n", 2, "the file holds only blank lines"),
        (b'{"a": 1}\n\n{"b"}\n', 3, "not JSON"),
    ],
)
def test_a_bad_file_names_its_line(tmp_path: Path, content: bytes, line_number: int, reason: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadLineError, match=reason) as raised:
        list(checked_lines(path))
    assert raised.value.line_number == line_number
    assert raised.value.path == str(path)


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)
    with pytest.raises(TraceTooLargeError):
        list(checked_lines(path))
