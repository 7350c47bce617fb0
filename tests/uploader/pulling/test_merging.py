import gzip
import hashlib
import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.models import LineFormat
from uploader.pulling import merging
from uploader.pulling.merging import DamagedError, Merger
from uploader.pulling.sources import StoredBatch
from uploader.sinks.layout import StoredName


def stored(content: bytes, *, compressed: bool = True) -> tuple[StoredBatch, bytes]:
    name = StoredName(hashlib.sha256(content).hexdigest(), compressed)
    body = gzip.compress(content, 1) if compressed else content
    return StoredBatch(f"run/episode/{name}", name, LineFormat.EPISODE, len(body), 0.0), body


def merged(*contents: bytes, compressed: bool = True) -> tuple[bytes, Merger]:
    out: list[bytes] = []
    merger = Merger(out.append)
    for content in contents:
        merger.add(*stored(content, compressed=compressed))
    return b"".join(out), merger


LINES = st.lists(st.binary(min_size=1, max_size=8).map(lambda line: line.replace(b"\n", b"x")), max_size=8)


@given(st.lists(LINES, max_size=6), st.booleans(), st.booleans())
def test_each_line_is_written_once_and_ended(batches: list[list[bytes]], compressed: bool, ended: bool) -> None:
    contents = [b"\n".join(lines) + (b"\n" if lines and ended else b"") for lines in batches]
    out, merger = merged(*contents, compressed=compressed)
    expected = list(dict.fromkeys(line for lines in batches for line in lines))
    assert out == b"".join(line + b"\n" for line in expected)
    assert (merger.num_lines, merger.size, merger.num_batches) == (len(expected), len(out), len(batches))
    assert merger.num_repeated == sum(map(len, batches)) - len(expected)


def test_a_batch_and_its_parts() -> None:
    """A service refused one of the lines, when a store had the whole batch already."""
    out, merger = merged(b"1\n2\n3\n4\n", b"1\n2\n", b"3\n4\n", b"4\n")
    assert (out, merger.num_repeated) == (b"1\n2\n3\n4\n", 5)


@given(st.data())
def test_a_damaged_batch_costs_itself(data: st.DataObject) -> None:
    batch, body = stored(b"first\nsecond\n")
    place = data.draw(st.integers(0, len(body) - 1))
    wrong = bytearray(body)
    wrong[place] ^= data.draw(st.integers(1, 255))
    out: list[bytes] = []
    merger = Merger(out.append)
    try:
        merger.add(batch, bytes(wrong))
    except DamagedError:
        assert out == []
    else:  # of the header, or of the last byte's padding: it says nothing of the lines
        assert b"".join(out) == b"first\nsecond\n"
    merger.add(*stored(b"third\n"))
    assert b"".join(out).endswith(b"third\n")


@pytest.mark.parametrize("cut", [0, 1, 20, -1])
def test_a_batch_that_is_cut_short(cut: int) -> None:
    batch, body = stored(b"first\nsecond\n" * 10)
    with pytest.raises(DamagedError, match="cut short"):
        Merger(bytes).add(batch, body[:cut])


def test_lines_of_another_name() -> None:
    batch, _ = stored(b"mine\n")
    with pytest.raises(DamagedError, match="not those that it is named for"):
        Merger(bytes).add(batch, gzip.compress(b"others\n"))


def test_what_is_no_batch_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MAX_REQUEST_BYTES", 1 << 20)
    batch, _ = stored(b"")
    with pytest.raises(DamagedError, match="more than any batch"):
        Merger(bytes).add(batch, bytes(2 << 20))
    bomb = gzip.compress(bytes(64 << 20), 1)
    tracemalloc.start()
    try:
        with pytest.raises(DamagedError, match="more than any batch"):
            Merger(bytes).add(batch, bomb)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_memory_is_that_of_one_batch() -> None:
    """Whose lines are never held at once."""
    line = os.urandom(3 << 19).replace(b"\n", b"x")
    contents = [b"".join(bytes([65 + batch, 65 + number]) + line + b"\n" for number in range(12)) for batch in range(3)]
    made = [stored(content) for content in contents]
    del contents
    size = 0

    def write(content: bytes) -> None:
        nonlocal size
        size += len(content)

    merger = Merger(write)
    tracemalloc.start()
    try:
        for batch, body in made:
            merger.add(batch, body)
        assert tracemalloc.get_traced_memory()[1] < 5 << 20
    finally:
        tracemalloc.stop()
    assert size == merger.size == 36 * (len(line) + 3)
