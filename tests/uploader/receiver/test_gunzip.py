"""Streaming decompression, fed in every split, against the standard library's gzip."""

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.gunzip import iter_inflated


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(
    members=st.lists(st.binary(max_size=2000), min_size=1, max_size=4),
    repeat=st.integers(1, 50),
    chunk=st.integers(1, 400),
    piece=st.integers(1, 4000),
)
def test_any_split_gives_the_bytes(members: list[bytes], repeat: int, chunk: int, piece: int) -> None:
    plain = [member * repeat for member in members]
    body = b"".join(map(gzip.compress, plain))
    pieces = list(iter_inflated(chunks(body, chunk), piece))
    assert b"".join(pieces) == b"".join(plain)
    assert all(0 < len(part) <= piece for part in pieces)


@given(data=st.binary(min_size=1, max_size=500), cut=st.integers(1, 520), chunk=st.integers(1, 100))
def test_any_cut_is_refused(data: bytes, cut: int, chunk: int) -> None:
    body = gzip.compress(data)
    kept = body[: max(0, len(body) - cut)]
    with pytest.raises(RequestRefusedError) as caught:
        list(iter_inflated(chunks(kept, chunk)))
    assert caught.value.code == "malformed_encoding"


@given(data=st.binary(max_size=500), behind=st.binary(min_size=1, max_size=40), chunk=st.integers(1, 100))
def test_anything_else_behind_is_refused(data: bytes, behind: bytes, chunk: int) -> None:
    with pytest.raises(RequestRefusedError):
        list(iter_inflated(chunks(gzip.compress(data) + behind, chunk)))


def test_a_bomb_is_inflated_no_further_than_it_is_taken() -> None:
    taken: list[bytes] = []

    def source() -> Iterator[bytes]:
        for part in chunks(gzip.compress(bytes(64 * 1024 * 1024)), 1024):
            taken.append(part)
            yield part

    pieces = iter_inflated(source(), 4096)
    for _ in range(100):
        assert next(pieces) == bytes(4096)
    assert len(taken) <= 2
