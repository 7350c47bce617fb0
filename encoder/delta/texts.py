"""Values as both sides of a stream have them: known by a digest, and to the side that needs them by their bytes."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import xxhash

from encoder.splicer import PIECE_BYTES

# Bytes hashed between two moments to give way: XXH3 makes 5 to 20 GB/s of them.
_HASHED_AT_ONCE: Final = 1024 * 1024

# Pieces that are gone through between two of them, however short.
_PIECES_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class Text:
    """A value as JSON, or the items of a part of a list without the brackets.

    Attributes:
        digest: the XXH3-128 of its bytes.
        size: how many bytes it has.
        count: how many items, of a part of a list.
        pieces: its bytes, where they are kept.
    """

    digest: bytes
    size: int
    count: int = 0
    pieces: tuple[bytes, ...] = ()


NO_TEXT: Final = Text(b"", 0)
"""Stands where there is none."""


def digest_of(piece: bytes) -> bytes:
    """The digest of a text of one piece, which is not a long one."""
    return xxhash.xxh3_128_digest(piece)


def known(pieces: Iterable[bytes], count: int = 0) -> Generator[None, None, Text]:
    """The text that some pieces make, its bytes not kept."""
    hasher = xxhash.xxh3_128()
    size = passed = 0
    for number, piece in enumerate(pieces, start=1):
        hasher.update(piece)
        size += len(piece)
        if size - passed >= _HASHED_AT_ONCE or not number % _PIECES_AT_ONCE:
            passed = size
            yield
    return Text(hasher.digest(), size, count)


def kept(pieces: list[bytes], count: int = 0) -> Generator[None, None, Text]:
    """The text that some pieces make, with them."""
    text = yield from known(pieces, count)
    return Text(text.digest, text.size, count, tuple(pieces))


def packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of some 64 KB, or as long as they were; an empty piece now and then, to give way."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE_BYTES:
            yield b"".join(held)
            held, size = [], 0
        elif not len(held) % _PIECES_AT_ONCE:
            yield b""
    if held:
        yield b"".join(held)
