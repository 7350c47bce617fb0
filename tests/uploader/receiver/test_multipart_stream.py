"""The form, fed in every split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.multipart_stream import UploadParts

TYPE = "multipart/form-data; boundary=edge"


def form(traces: bytes, metadata: bytes = b"{}", header: bytes = b"Content-Encoding: gzip\r\n") -> bytes:
    return (
        b'--edge\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n'
        + metadata
        + b'\r\n--edge\r\ncontent-disposition: form-data; name="traces"; filename="traces.jsonl"\r\n'
        + header
        + b"\r\n"
        + traces
        + b"\r\n--edge--\r\n"
    )


def feed(body: bytes, size: int, max_metadata_bytes: int = 100) -> tuple[UploadParts, bytes]:
    parts = UploadParts(TYPE, max_metadata_bytes)
    traces = b"".join(b"".join(parts.feed(body[start : start + size])) for start in range(0, len(body), size))
    parts.finish()
    return parts, traces


NEARLY = st.lists(
    st.sampled_from([b"\r", b"\n", b"-", b"--", b"\r\n--edg", b"\r\n--", b"edge", b"x", b"\0"]), max_size=20
)


@given(traces=NEARLY.map(b"".join) | st.binary(max_size=300), size=st.integers(1, 300))
def test_any_split_gives_the_traces(traces: bytes, size: int) -> None:
    if b"\r\n--edge" in traces or traces.startswith(b"--edge"):
        return
    parts, found = feed(form(traces, b'{"a":1}'), size)
    assert (found, parts.metadata, parts.content_encoding) == (traces, b'{"a":1}', "gzip")


@given(cut=st.integers(3, 200), size=st.integers(1, 300))
def test_any_cut_is_refused(cut: int, size: int) -> None:
    body = form(b"traces" * 10)
    with pytest.raises(RequestRefusedError):
        feed(body[: max(0, len(body) - cut)], size)


def test_no_encoding() -> None:
    assert feed(form(b"x", header=b""), 1000)[0].content_encoding == ""
    assert feed(form(b"x", header=b"Content-Encoding: GZIP\r\n"), 1000)[0].content_encoding == "gzip"
    with pytest.raises(RequestRefusedError) as caught:
        feed(form(b"x", header=b"Content-Encoding: zstd\r\n"), 1000)
    assert caught.value.code == "malformed_encoding"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_metadata_is_bounded(size: int) -> None:
    assert len(feed(form(b"", b"x" * 100), size)[0].metadata) == 100
    with pytest.raises(RequestRefusedError, match="longer than 100 bytes"):
        feed(form(b"", b"x" * 101), size)
