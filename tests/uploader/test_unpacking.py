import gzip
import os
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.limits import CHUNK_BYTES
from uploader.unpacking import UnpackError, lines_of, unpacked


def cut(content: bytes, size: int) -> Iterable[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


@given(st.binary(max_size=2000), st.integers(1, 50), st.booleans())
def test_what_was_packed_comes_back_however_it_is_cut(content: bytes, size: int, compressed: bool) -> None:
    packed = gzip.compress(content) if compressed else content
    assert b"".join(unpacked(cut(packed, size), compressed=compressed)) == content


def test_large_contents_come_in_small_chunks_and_little_memory() -> None:
    content = os.urandom(1 << 20) * 20
    packed = gzip.compress(content, 1)
    pieces = [memoryview(packed)[start : start + CHUNK_BYTES] for start in range(0, len(packed), CHUNK_BYTES)]
    bomb = gzip.compress(bytes(200 << 20), 1)
    tracemalloc.start()
    try:
        assert sum(map(len, unpacked(pieces, compressed=True))) == len(content)
        assert max(map(len, unpacked([bomb], compressed=True))) <= CHUNK_BYTES
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@given(st.binary(min_size=1, max_size=300), st.data())
def test_what_is_cut_short_or_wrong_is_told(content: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(content)
    end = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(UnpackError, match="cannot be unpacked"):
        list(unpacked([packed[:end]], compressed=True))
    place = data.draw(st.integers(len(packed) - 8, len(packed) - 1))  # in the check sum, or the length
    wrong = packed[:place] + bytes([packed[place] ^ 1]) + packed[place + 1 :]
    with pytest.raises(UnpackError, match="cannot be unpacked"):
        list(unpacked([wrong], compressed=True))


def test_what_is_no_gzip_at_all() -> None:
    with pytest.raises(UnpackError):
        list(unpacked([b"no gzip, certainly"], compressed=True))


@given(st.lists(st.binary(max_size=20)), st.integers(1, 30))
def test_lines(parts: list[bytes], size: int) -> None:
    content = b"\n".join(parts)
    found = [b"".join(line) for line in lines_of(cut(content, size))]
    assert b"".join(found) == content
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in found[:-1])
    assert not found or found[-1].count(b"\n") <= 1
