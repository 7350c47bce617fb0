import gzip
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.dividing import divide
from uploader.sealing import SealedBatch, Sealer


def seal(lines: list[bytes], compress: bool | int = True) -> SealedBatch:
    sealer = Sealer(compress=compress)
    for number, line in enumerate(lines, 11):
        sealer.add([line], len(line), number)
    return sealer.seal()


def content(sealed: SealedBatch) -> bytes:
    body = b"".join(sealed.pieces)
    return gzip.decompress(body) if sealed.content_encoding else body


@pytest.mark.parametrize("compress", [False, True, 3])
@given(st.lists(st.binary(min_size=1, max_size=50).map(lambda line: line.replace(b"\n", b"x") + b"\n"), min_size=2),
       st.booleans())  # fmt: skip
def test_the_halves_are_the_lines_in_order(compress: bool | int, lines: list[bytes], ended: bool) -> None:
    if not ended:
        lines[-1] = lines[-1].removesuffix(b"\n")
    first, second = divide(seal(lines, compress))
    middle = len(lines) // 2
    for half, part, first_number in ((first, lines[:middle], 11), (second, lines[middle:], 11 + middle)):
        data = b"".join(part)
        assert content(half) == data
        assert half.batch.digest == hashlib.sha256(data).hexdigest()
        assert (half.batch.num_lines, half.batch.size) == (len(part), len(data))
        assert half.batch.first_line_number == first_number
        assert half.content_encoding == ("gzip" if compress is not False else None)


def test_lines_longer_than_a_chunk() -> None:
    lines = [bytes([65 + number]) * 700_000 + b"\n" for number in range(3)]
    first, second = divide(seal(lines))
    assert content(first) + content(second) == b"".join(lines)
    assert (first.batch.num_lines, second.batch.num_lines) == (1, 2)


def test_dividing_twice_gives_the_same_halves() -> None:
    batch = seal([b"1\n", b"2\n", b"3\n"])
    assert divide(batch) == divide(batch)


def test_one_line_cannot_be_divided() -> None:
    batch = seal([b"1\n"])
    assert divide(batch) == (batch,)
