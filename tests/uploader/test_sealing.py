import gzip
import hashlib
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import ConfigurationError
from uploader.limits import CHUNK_BYTES, MAX_REQUEST_BYTES
from uploader.sealing import Sealer

NOISE = random.Random(5).randbytes(3 * CHUNK_BYTES)


def body(sealed: Any) -> Any:
    data = b"".join(sealed.pieces)
    return gzip.decompress(data) if sealed.content_encoding == "gzip" else data


def seal(pieces: Any, **options: Any) -> Any:
    sealer = Sealer(**options)
    sealer.add(pieces, sum(map(len, pieces)), 1)
    for _ in sealer.work():
        pass
    return sealer.seal()


@pytest.mark.parametrize("compress", [False, True, 0, 3, 6])
def test_batch_is_its_lines(compress: Any) -> None:
    sealer = Sealer(compress=compress)
    sealer.add([b'{"a"', b":1}\n"], 8, 3)
    sealer.add([b"{}\n"], 3, 5)
    assert (sealer.num_lines, sealer.size) == (2, 11)
    sealed = sealer.seal()
    data = b'{"a":1}\n{}\n'
    assert body(sealed) == data
    assert sealed.batch.digest == hashlib.sha256(data).hexdigest()
    assert sealed.batch.idempotency_key == "sha256:" + sealed.batch.digest
    assert (sealed.batch.num_lines, sealed.batch.first_line_number, sealed.batch.size) == (2, 3, 11)
    assert sealed.content_encoding == (None if compress is False else "gzip")
    assert sealed.compressed_size == len(b"".join(sealed.pieces))


def test_the_next_batch_starts_afresh() -> None:
    sealer = Sealer()
    sealer.add([b"1\n"], 2, 1)
    first = sealer.seal()
    assert (sealer.num_lines, sealer.size) == (0, 0)
    sealer.add([b"2\n"], 2, 2)
    second = sealer.seal()
    assert (body(first), body(second)) == (b"1\n", b"2\n")
    assert second.batch.first_line_number == 2


def test_nothing_cannot_be_sealed() -> None:
    with pytest.raises(ValueError, match="nothing to seal"):
        Sealer().seal()


@pytest.mark.parametrize("compress", [False, True, 0, 2, 4])
@given(cuts=st.lists(st.integers(0, len(NOISE)), max_size=8), noisy=st.integers(0, len(NOISE)))
def test_body_does_not_depend_on_the_cuts(compress: Any, cuts: Any, noisy: Any) -> None:
    data = NOISE[:noisy] + b"1" * (len(NOISE) - noisy)
    edges = [0, *sorted(cuts), len(data)]
    cut = seal([data[a:b] for a, b in pairwise(edges)], compress=compress)
    assert cut == seal([data], compress=compress)
    assert body(cut) == data


@pytest.mark.parametrize("compress", [False, True])
def test_pieces_are_near_256_kib_and_never_more(compress: Any) -> None:
    sealed = seal([NOISE, NOISE[:1000]], compress=compress)
    assert max(map(len, sealed.pieces)) <= CHUNK_BYTES
    assert len(sealed.pieces) <= 2 * (sealed.compressed_size // CHUNK_BYTES + 1)
    assert all(type(piece) is bytes for piece in sealed.pieces)


def test_small_outputs_are_gathered() -> None:
    sealed = seal([b"1234567890" * 1_000_000])
    assert len(sealed.pieces) == 1


def test_work_is_done_chunk_by_chunk_and_may_stop_between() -> None:
    sealer = Sealer(compress=False)
    sealer.add([NOISE, b"rest\n"], len(NOISE) + 5, 1)
    assert len(list(sealer.work())) == 3
    assert list(sealer.work()) == []
    sealer.add([NOISE], len(NOISE), 2)
    next(sealer.work())
    assert body(sealer.seal()) == NOISE + b"rest\n" + NOISE


def test_chunks_are_as_long_as_asked_for_and_pieces_as_ever() -> None:
    sealer = Sealer(compress=False, chunk_bytes=2 * CHUNK_BYTES)
    assert not sealer.add([NOISE[: 2 * CHUNK_BYTES - 1]], 2 * CHUNK_BYTES - 1, 1)
    assert sealer.add([NOISE], len(NOISE), 2)
    assert len(list(sealer.work())) == 2
    sealed = sealer.seal()
    assert max(map(len, sealed.pieces)) == CHUNK_BYTES
    assert body(sealed) == NOISE[: 2 * CHUNK_BYTES - 1] + b"\n" + NOISE


def test_line_is_not_copied_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks: list[Any] = []

    class Spy:
        def add(self, chunk: Any) -> Any:
            chunks.append(chunk)
            return b""

        def finish(self) -> Any:
            return b""

    monkeypatch.setattr("uploader.sealing.open_compressor", lambda level: Spy())
    seal([NOISE])
    assert [type(chunk) for chunk in chunks] == [memoryview] * 3
    assert all(chunk.obj is NOISE for chunk in chunks)
    assert {len(chunk) for chunk in chunks} == {CHUNK_BYTES}


def test_line_fits_by_uncompressed_size_and_by_number() -> None:
    sealer = Sealer(target_batch_bytes=10, max_lines=2)
    assert sealer.fits(10_000)
    sealer.add([b"12345\n"], 6, 1)
    assert sealer.fits(4)
    assert not sealer.fits(5)
    sealer.add([b"1\n"], 2, 2)
    assert not sealer.fits(1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("target_batch_bytes", 0),
        ("target_batch_bytes", MAX_REQUEST_BYTES + 1),
        ("max_lines", 0),
        ("compress", 10),
    ],
)
def test_option_out_of_range_is_refused(option: Any, value: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Sealer(**{option: value})
    assert caught.value.option == option


@given(
    st.lists(st.lists(st.binary(min_size=1, max_size=40).map(bytes.hex), min_size=1, max_size=4), max_size=20),
    st.integers(1, 300),
    st.sampled_from([True, 6, False]),
)
def test_the_lines_of_a_recoverable_batch_can_be_had_back_at_any_time(
    lines: list[list[str]], chunk_bytes: int, compress: Any
) -> None:
    sealer = Sealer(compress=compress, chunk_bytes=chunk_bytes, recoverable=True)
    added: list[bytes] = []
    for number, texts in enumerate(lines):
        pieces = [text.encode() for text in texts] + [b"\n"]
        added.append(b"".join(pieces))
        sealer.add(pieces, len(added[-1]), number + 1)
        assert list(map(b"".join, sealer.lines())) == added
        for _ in sealer.work():
            assert list(map(b"".join, sealer.lines())) == added
    sealer.finish_work()
    assert list(map(b"".join, sealer.lines())) == added
    if added:
        assert body(sealer.seal()) == b"".join(added)
    assert sealer.lines() == []


def test_lines_of_noise_and_of_nothing_new_can_be_had_back() -> None:
    """What does not compress, and what compresses to next to nothing and stays in the compressor for long."""
    sealer = Sealer(recoverable=True)
    for line in (NOISE.replace(b"\n", b"") + b"\n", b"0" * 5_000_000 + b"\n"):
        sealer.add([line], len(line), 1)
        for _ in sealer.work():
            pass
    first, second = map(b"".join, sealer.lines())
    assert (first[:-1], second) == (NOISE.replace(b"\n", b""), b"0" * 5_000_000 + b"\n")


def test_to_be_recoverable_costs_some_bytes_for_each_chunk() -> None:
    line = NOISE.hex().encode()
    sizes = [seal([line], recoverable=recoverable).compressed_size for recoverable in (False, True)]
    assert 0 < sizes[1] - sizes[0] < 20 * -(-len(line) // CHUNK_BYTES)
