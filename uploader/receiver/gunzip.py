"""The uncompressed bytes of a body, in pieces of bounded size, whatever the body holds.

A producer may send one gzip member or several in a row. The inflater is never asked for more than one piece,
so a bomb costs a piece of memory and stops at the caller's limit.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from uploader.receiver.codec import CODEC_ERRORS, new_inflater
from uploader.receiver.errors import RequestRefusedError

PIECE_BYTES: Final = 256 * 1024


def iter_inflated(chunks: Iterable[bytes], piece_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """Decompress a gzip stream.

    Args:
        chunks: the compressed bytes, cut anywhere.
        piece_bytes: the longest piece that is yielded.

    Yields:
        Non-empty pieces of the uncompressed bytes.

    Raises:
        RequestRefusedError: `malformed_encoding`, when the bytes are no gzip, fail their check sum or end
        too early.
    """
    inflater = new_inflater()
    for chunk in chunks:
        data = chunk
        # An inflater whose output was cut short may hold more without any input left: ask until it gives
        # less.
        starved = False
        while data or not starved:
            if inflater.eof:
                if not data:
                    break
                inflater = new_inflater()
            try:
                piece = inflater.decompress(data, piece_bytes)
            except CODEC_ERRORS as error:
                raise _malformed(str(error)) from error
            # RFC 1952: a file is a series of members, one after another; so what follows one starts the next.
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            starved = len(piece) < piece_bytes
            if piece:
                yield piece
    if not inflater.eof:
        raise _malformed("it ends too early")


def _malformed(reason: str) -> RequestRefusedError:
    return RequestRefusedError(
        "malformed_encoding", f"The traces part says Content-Encoding: gzip but is no valid gzip: {reason}."
    )
