"""A sealed batch made into two, when a gateway finds it too large."""

import zlib
from collections.abc import Iterator

from uploader.sealing import SealedBatch, Sealer

_CHUNK_BYTES = 256 * 1024
_GZIP = 31


def divide(sealed: SealedBatch) -> tuple[SealedBatch, ...]:
    """The first and the second half of a batch's lines, each sealed anew.

    The lines are unpacked and packed chunk by chunk: never more than one line is held whole. Of the second half, the
    first line's number is counted on from the first half's; blank lines of the source between them are not known here.

    Args:
        sealed: a batch.

    Returns:
        The two halves; the batch alone when nothing in it ends a line, so that there is no place to divide it.
    """
    batch = sealed.batch
    first_half = batch.num_lines // 2
    sealer = Sealer(target_batch_bytes=batch.size, compress=sealed.content_encoding is not None)
    halves: list[SealedBatch] = []
    for index, line in enumerate(_lines(_plain(sealed))):
        if index and index == first_half:
            halves.append(sealer.seal())
        sealer.add(line, sum(map(len, line)), batch.first_line_number + index)
        for _ in sealer.work():
            pass
    return (*halves, sealer.seal()) if halves else (sealed,)


def _plain(sealed: SealedBatch) -> Iterator[bytes]:
    """The uncompressed bytes in chunks."""
    if sealed.content_encoding is None:
        yield from sealed.pieces
        return
    unpacker = zlib.decompressobj(_GZIP)
    for piece in sealed.pieces:
        waiting = piece
        while waiting:
            yield unpacker.decompress(waiting, _CHUNK_BYTES)
            waiting = unpacker.unconsumed_tail
    yield unpacker.flush()


def _lines(chunks: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Each line as its pieces, the LF included."""
    line: list[bytes] = []
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line.append(chunk[start : end + 1])
            yield line
            line, start = [], end + 1
        if start < len(chunk):
            line.append(chunk[start:])
    if line:
        yield line
