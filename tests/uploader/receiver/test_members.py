"""The traces within an episode's line: exactly their bytes, and no more of them than may be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.uploader.receiver.support import dumps
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.members import decode_episode, locate_members

SPACE = st.text(" \t\r", max_size=3).map(str.encode)
MEMBER = st.dictionaries(st.text(max_size=3), st.text(max_size=8) | st.integers(), max_size=3).map(dumps)


@given(
    members=st.lists(st.tuples(SPACE, MEMBER, SPACE), max_size=6),
    before=st.lists(MEMBER, max_size=2),
    padding=st.sampled_from([0, 70_000]),
)
def test_the_ranges_hold_the_members(
    members: list[tuple[bytes, bytes, bytes]], before: list[bytes], padding: int
) -> None:
    listed = b",".join(b"".join(parts) for parts in members)
    line = b'{"x": [' + b",".join(before) + b'], "traces" : [' + listed + b'], "id": "e"' + b" " * padding + b"}"
    record, raws = decode_episode(line, "", 10)
    assert record.id == "e"
    assert [bytes(raw) for raw in raws] == [member for _, member, _ in members]
    assert [line[start : start + size] for start, size in locate_members(line, raws)] == [
        member for _, member, _ in members
    ]


@pytest.mark.parametrize("padding", [0, 70_000])
@pytest.mark.parametrize("count", [0, 3, 4, 5, 1000])
def test_the_number_of_members(count: int, padding: int) -> None:
    line: Any = b'{"id":"e","traces":[' + b",".join([b"{}"] * count) + b"]" + b" " * padding + b"}"
    if count <= 4:
        assert len(decode_episode(line, "Line 1", 4)[1]) == count
    else:
        with pytest.raises(RequestRefusedError, match="Line 1 has more than 4 traces"):
            decode_episode(line, "Line 1", 4)


@pytest.mark.parametrize("padding", [0, 70_000])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"id":"e"}', "line_format_mismatch"),
        (b'{"id":"e","traces":5}', "invalid_trace"),
        (b'{"id":"e","traces":null}', "invalid_trace"),
        (b'{"traces":[]}', "invalid_trace"),
        (b'{"id":"e","traces":[{"x":"\\udfff"}]}', "malformed_encoding"),
    ],
)
def test_what_is_no_episode(line: bytes, code: str, padding: int) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        decode_episode(line + b" " * padding, "Line 1", 4)
    assert caught.value.code == code
