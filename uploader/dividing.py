"""A sealed batch made into two, when a gateway finds it too large."""

from uploader.sealing import SealedBatch, Sealer
from uploader.unpacking import lines_of, unpacked


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
    plain = unpacked(sealed.pieces, compressed=sealed.content_encoding is not None)
    for index, line in enumerate(lines_of(plain)):
        if index and index == first_half:
            halves.append(sealer.seal())
        sealer.add(line, sum(map(len, line)), batch.first_line_number + index)
        for _ in sealer.work():
            pass
    return (*halves, sealer.seal()) if halves else (sealed,)
