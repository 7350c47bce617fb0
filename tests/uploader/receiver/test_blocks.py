"""Stored lines: any range of any stream comes back, and plain gzip reads the file."""

import gzip
import io
import tempfile
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.receiver import blocks
from uploader.receiver.blocks import BlockWriter, iter_range, pack_offsets, unpack_offsets


@given(
    writes=st.lists(st.binary(max_size=90), max_size=12),
    block=st.integers(1, 60),
    start=st.integers(0, 400),
    size=st.integers(0, 400),
)
def test_any_range(writes: list[bytes], block: int, start: int, size: int) -> None:
    data = b"".join(writes)
    start = min(start, len(data))
    size = min(size, len(data) - start)
    with mock.patch.object(blocks, "BLOCK_BYTES", block), tempfile.TemporaryDirectory() as folder:
        file = io.BytesIO()
        writer = BlockWriter(file)
        for piece in writes:
            writer.write(piece)
        writer.finish()
        path = Path(folder, "lines.gz")
        path.write_bytes(file.getvalue())
        offsets = unpack_offsets(pack_offsets(writer.offsets))
        pieces = list(iter_range(path, offsets, start, size))
    assert b"".join(pieces) == data[start : start + size]
    assert all(0 < len(piece) <= block for piece in pieces)
    assert offsets == writer.offsets
    assert offsets[-1] == len(file.getvalue())
    if data:
        assert gzip.decompress(file.getvalue()) == data


def test_reading_past_the_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "lines.gz"
    with path.open("wb") as file:
        writer = BlockWriter(file)
        writer.write(b"abc")
        writer.finish()
    with pytest.raises(EOFError, match="ends before byte 3"):
        list(iter_range(path, writer.offsets, 1, 3))
