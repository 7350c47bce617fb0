"""Cursors: what went in comes out, for the same list alone; anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.receiver.cursors import decode_cursor, encode_cursor, scope_of
from uploader.receiver.errors import RequestRefusedError

INTS = st.integers(-(2**62), 2**62)


@given(number=INTS, text=st.text())
def test_round_trip(number: int, text: str) -> None:
    scope = scope_of("/runs", [("a", "b")])
    assert decode_cursor(encode_cursor(scope, (number, text)), scope, (int, str)) == (number, text)


def test_the_scope_is_the_set_of_filters() -> None:
    assert scope_of("/a", [("x", "1"), ("y", "2")]) == scope_of("/a", [("y", "2"), ("x", "1")])
    scopes = [("/a", []), ("/b", []), ("/a", [("x", "")]), ("/a", [("", "x")]), ("/a", [("x", ""), ("x", "")])]
    assert len({scope_of(route, params) for route, params in scopes}) == len(scopes)


@given(st.text() | st.text("ABCabc012-_", max_size=40))
def test_anything_else_is_refused(cursor: str) -> None:
    with pytest.raises(RequestRefusedError) as caught:
        decode_cursor(cursor, scope_of("/a", []), (int, int))
    assert caught.value.code == "invalid_cursor"


@pytest.mark.parametrize("position", [(1,), ("1", 1), (1, 2, 3), (2**63, 1)])
def test_another_position_is_refused(position: tuple[int | str, ...]) -> None:
    scope = scope_of("/a", [])
    with pytest.raises(RequestRefusedError):
        decode_cursor(encode_cursor(scope, position), scope, (int, int))
