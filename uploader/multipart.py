"""The body of an upload request in pieces, with its length known ahead.

One write of a whole body stalls an event loop by 16 ms and more; here the pieces of the sealed batch travel
as they are, and as often as the request is tried.
"""

from collections.abc import AsyncIterator, Iterator

import httpx

from uploader.sealing import SealedBatch

_METADATA_HEADER = (
    b'Content-Disposition: form-data; name="metadata"\r\n'
    b"Content-Type: application/json\r\n"
)  # fmt: skip
_TRACES_HEADER = (
    b'Content-Disposition: form-data; name="traces"; filename="traces.jsonl"\r\nContent-Type: application/x-ndjson\r\n'
)


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A request body that httpx can send, synchronously or not, any number of times.

    Attributes:
        content_type: the value of the request's `Content-Type`.
        content_length: the bytes of all pieces.
    """

    def __init__(self, pieces: tuple[bytes, ...], content_type: str) -> None:
        self._pieces = pieces
        self.content_type = content_type
        self.content_length = sum(map(len, pieces))

    @property
    def headers(self) -> dict[str, str]:
        """The headers that describe this body; with a length, httpx does not send it chunked."""
        return {"Content-Type": self.content_type, "Content-Length": str(self.content_length)}

    def pieces(self) -> Iterator[bytes]:
        """The body from its start, in pieces of at most 256 KiB (the metadata is one piece)."""
        return iter(self._pieces)

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def build_body(sealed: SealedBatch, metadata: bytes) -> Body:
    """The multipart/form-data body of the contract.

    The boundary is the batch's digest, so the same batch and metadata make the same bytes. No content can
    hold it as a
    delimiter: bytes cannot contain their own SHA-256 (nor can their gzip), and JSON holds no bare CR LF.

    Args:
        sealed: the batch to send.
        metadata: the `metadata` part, encoded JSON.
    """
    boundary = sealed.batch.digest.encode()
    traces_header = _TRACES_HEADER
    if sealed.content_encoding is not None:
        traces_header += b"Content-Encoding: %s\r\n" % sealed.content_encoding.encode()
    head = b"".join(
        (
            b"--%s\r\n%s\r\n" % (boundary, _METADATA_HEADER),
            metadata,
            b"\r\n--%s\r\n%s\r\n" % (boundary, traces_header),
        )
    )
    tail = b"\r\n--%s--\r\n" % boundary
    return Body((head, *sealed.pieces, tail), f"multipart/form-data; boundary={boundary.decode()}")
