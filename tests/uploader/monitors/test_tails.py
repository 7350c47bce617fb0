"""The last place of a mark, wherever the blocks that are read begin."""

import os
from pathlib import Path

import pytest

from uploader.limits import CHUNK_BYTES
from uploader.monitors.tails import last_place

MARK = b"\x01mark"


@pytest.mark.parametrize(
    "behind", [0, 1, CHUNK_BYTES - 6, CHUNK_BYTES - 5, CHUNK_BYTES - 2, CHUNK_BYTES, 3 * CHUNK_BYTES]
)
@pytest.mark.parametrize("before", [0, 1, CHUNK_BYTES])
def test_a_mark_is_found_across_blocks(tmp_path: Path, before: int, behind: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(before) + MARK + bytes(behind))
    assert last_place(path, MARK) == before
    path.write_bytes(bytes(before) + MARK + MARK + bytes(behind))
    assert last_place(path, MARK) == before + len(MARK)


@pytest.mark.parametrize("size", [0, 3, 2 * CHUNK_BYTES])
def test_there_may_be_none(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(size))
    assert last_place(path, MARK) is None


def test_a_read_may_give_less_than_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: real(descriptor, min(size, 10_000)))
    path = tmp_path / "file"
    path.write_bytes(MARK + bytes(2 * CHUNK_BYTES))
    assert last_place(path, MARK) == 0
