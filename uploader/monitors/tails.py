"""The end of a file, looked at from behind: a file of gigabytes costs no more than its last line."""

import os
from pathlib import Path

from uploader.limits import CHUNK_BYTES


def last_place(path: Path, mark: bytes) -> int | None:
    """Where some bytes are in a file for the last time; None if they are not in it.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        position = file.seek(0, os.SEEK_END)
        following = b""  # a mark may lie across two blocks
        while position:
            start = file.seek(max(0, position - CHUNK_BYTES))
            block = _read(file.fileno(), position - start) + following
            found = block.rfind(mark)
            if found >= 0:
                return start + found
            position, following = start, block[: len(mark) - 1]
    return None


def _read(descriptor: int, size: int) -> bytes:
    """So many bytes, or all there are: one read may give fewer."""
    blocks = []
    while size and (block := os.read(descriptor, size)):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)
