import hashlib
import json
from collections.abc import Iterable
from typing import Any

import httpx
import pytest
from python_multipart.multipart import MultipartParser, parse_options_header

from uploader.limits import CHUNK_BYTES
from uploader.multipart import build_body
from uploader.sealing import Sealer

METADATA = json.dumps({"schema_version": 1, "context": {"purpose": "a \"quoted\" 'ü' \r\n--"}}).encode()


def sealed_batch(lines: Iterable[bytes] = (b'{"a":1}\n',), **options: Any) -> Any:
    sealer = Sealer(**options)
    for number, line in enumerate(lines, start=1):
        sealer.add([line], len(line), number)
    return sealer.seal()


def parts_of(content_type: str, pieces: Any) -> list[tuple[dict[str, str], bytes]]:
    """What a parser that we did not write finds in a body: each part's headers and content."""
    parts: list[tuple[dict[str, str], bytes]] = []
    name, value = bytearray(), bytearray()

    def begin() -> None:
        parts.append(({}, b""))

    def end_header() -> None:
        parts[-1][0][name.decode().lower()] = value.decode()
        name.clear()
        value.clear()

    def data(chunk: bytes, start: int, end: int) -> None:
        parts[-1] = (parts[-1][0], parts[-1][1] + chunk[start:end])

    ended = []
    kind, options = parse_options_header(content_type)
    assert kind == b"multipart/form-data"
    parser = MultipartParser(
        options[b"boundary"],
        {
            "on_part_begin": begin,
            "on_header_field": lambda chunk, start, end: name.extend(chunk[start:end]),
            "on_header_value": lambda chunk, start, end: value.extend(chunk[start:end]),
            "on_header_end": end_header,
            "on_part_data": data,
            "on_end": lambda: ended.append(True),
        },
    )
    for piece in pieces:
        parser.write(piece)
    parser.finalize()
    assert ended
    return parts


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("split", ["whole", "pieces", "bytes"])
def test_a_foreign_parser_finds_both_parts(compress: Any, split: str) -> None:
    sealed = sealed_batch(compress=compress)
    body = build_body(sealed, METADATA)
    data = b"".join(body.pieces())
    one_by_one = [data[i : i + 1] for i in range(len(data))]
    pieces = {"whole": [data], "pieces": body.pieces(), "bytes": one_by_one}[split]
    traces_headers = {
        "content-disposition": 'form-data; name="traces"; filename="traces.jsonl"',
        "content-type": "application/x-ndjson",
    }
    if compress:
        traces_headers["content-encoding"] = "gzip"
    assert parts_of(body.content_type, pieces) == [
        ({"content-disposition": 'form-data; name="metadata"', "content-type": "application/json"}, METADATA),
        (traces_headers, b"".join(sealed.pieces)),
    ]


@pytest.mark.parametrize("compress", [False, True])
def test_it_says_what_httpx_would_say(compress: Any) -> None:
    sealed = sealed_batch(compress=compress)
    file = ("traces.jsonl", b"".join(sealed.pieces), "application/x-ndjson")
    theirs = httpx.Request(
        "POST",
        "http://test",
        files={
            "metadata": (None, METADATA, "application/json"),
            "traces": (*file, {"Content-Encoding": "gzip"}) if compress else file,
        },
    )
    body = build_body(sealed, METADATA)
    assert parts_of(body.content_type, body.pieces()) == parts_of(theirs.headers["Content-Type"], [theirs.read()])


def test_length_is_known_and_pieces_are_small() -> None:
    line = b"1" * 3_000_000
    body = build_body(sealed_batch([line], compress=False), METADATA)
    pieces = list(body.pieces())
    assert body.content_length == len(b"".join(pieces))
    assert max(map(len, pieces)) <= CHUNK_BYTES
    assert body.headers == {"Content-Type": body.content_type, "Content-Length": str(body.content_length)}


def test_pieces_of_the_batch_travel_as_they_are() -> None:
    sealed = sealed_batch()
    sent = list(build_body(sealed, METADATA).pieces())
    assert all(any(piece is one for one in sent) for piece in sealed.pieces)


def test_same_batch_makes_the_same_body_any_number_of_times() -> None:
    body = build_body(sealed_batch(), METADATA)
    assert list(body.pieces()) == list(body.pieces()) == list(build_body(sealed_batch(), METADATA).pieces())


def test_boundary_is_not_ended_by_lines_that_look_like_one() -> None:
    digest = hashlib.sha256(b'{"a":1}\n').hexdigest().encode()
    line = b"\r\n--%s--\r\n" % digest
    sealed = sealed_batch([line], compress=False)
    assert parts_of(build_body(sealed, b"{}").content_type, build_body(sealed, b"{}").pieces())[1][1] == line


def request_of(body: Any) -> Any:
    return httpx.Request("POST", "http://test/", headers=body.headers, stream=body)


def test_sync_client_sends_it_again_and_again() -> None:
    received = []

    def answer(request: Any) -> Any:
        assert "Transfer-Encoding" not in request.headers
        received.append((request.headers["Content-Length"], request.read()))
        return httpx.Response(201)

    body = build_body(sealed_batch(), METADATA)
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        client.send(request_of(body))
        client.send(request_of(body))
    assert received == [(str(body.content_length), b"".join(body.pieces()))] * 2


async def test_async_client_sends_it_again_and_again() -> None:
    received = []

    async def answer(request: Any) -> Any:
        received.append((request.headers["Content-Length"], await request.aread()))
        return httpx.Response(201)

    body = build_body(sealed_batch(), METADATA)
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        await client.send(request_of(body))
        await client.send(request_of(body))
    assert received == [(str(body.content_length), b"".join(body.pieces()))] * 2
