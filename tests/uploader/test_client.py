"""Both clients against a scripted service: every row of the contract's table, reading, settings, secrets."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import uploader
from tests.naming import stable_id
from tests.uploader.faces import EACH, KEY, URL, Face, both, connect_error, lines
from uploader.testing import ScriptedTransport, fake_time, json_response, refusal


def parts(body: bytes, content_type: str) -> dict[str, tuple[bytes, bytes]]:
    """The parts of a multipart body by name: headers and content."""
    boundary = content_type.partition("boundary=")[2].encode()
    found = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = head.partition(b'name="')[2].partition(b'"')[0].decode()
        found[name] = (head, content.removesuffix(b"\r\n"))
    return found


@both
@pytest.mark.parametrize("compress", [True, False])
def test_what_travels_is_what_the_contract_says(face: Face, compress: bool) -> None:
    transport = ScriptedTransport()
    data = b'{"a":1}\n{"b":2}'
    receipts = face.use(
        transport,
        lambda client: client.upload_lines(
            [b'{"a":1}\n', b" \n", b'{"b":2}'], compress=compress, line_format="episode", context={"k": "v"}
        ),
        team_id="team",
    )
    (request,) = transport.requests
    digest = hashlib.sha256(data).hexdigest()
    assert [receipt.upload_id for receipt in receipts] == [digest]
    assert (request.method, str(request.url)) == ("POST", f"{URL}/api/v1/traces")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["idempotency-key"] == f"sha256:{digest}"
    assert request.headers["x-prime-team-id"] == "team"
    assert request.headers["x-prime-line-format"] == "episode"
    assert int(request.headers["content-length"]) == len(request.body)
    assert "transfer-encoding" not in request.headers
    found = parts(request.body, request.headers["content-type"])
    assert json.loads(found["metadata"][1]) == {"schema_version": 1, "context": {"k": "v"}}
    head, content = found["traces"]
    assert b'filename="traces.jsonl"' in head
    assert b"application/x-ndjson" in head
    assert (b"Content-Encoding: gzip" in head) is compress
    assert (gzip.decompress(content) if compress else content) == data


FINAL: list[tuple[int, str, type[uploader.APIError]]] = [
    (400, "digest_mismatch", uploader.ValidationRejectedError),
    (401, "unauthenticated", uploader.UnauthorizedError),
    (402, "payment_required", uploader.PaymentRequiredError),
    (403, "service_not_enabled", uploader.ForbiddenError),
    (404, "trace_not_found", uploader.NotFoundError),
    (409, "line_format_conflict", uploader.LineFormatConflictError),
    (413, "", uploader.PayloadTooLargeError),
    (422, "", uploader.ValidationRejectedError),
]


@both
@pytest.mark.parametrize(("status", "code", "cls"), FINAL)
def test_refusals_are_final_and_typed(face: Face, status: int, code: str, cls: type[uploader.APIError]) -> None:
    transport = ScriptedTransport([refusal(status, code, "why")])
    with fake_time() as clock, pytest.raises(cls) as caught:
        face.call(transport, "upload_lines", lines(1))
    assert type(caught.value) is cls
    assert caught.value.status_code == status
    assert caught.value.code == (code or None)
    assert len(transport.requests) == 1
    assert clock.sleeps == []


TEMPORARY: list[Any] = [
    408, 429, 500, 502, 503, 504,
    httpx.ConnectError("refused"), httpx.ReadError(""), httpx.WriteError("reset"), httpx.RemoteProtocolError("cut"),
    httpx.ReadTimeout("late"), httpx.ConnectTimeout("late"), httpx.PoolTimeout("late"), httpx.ProxyError("proxy"),
]  # fmt: skip


@both
@pytest.mark.parametrize("failure", TEMPORARY, ids=stable_id)
def test_the_same_bytes_are_sent_again(face: Face, failure: Any) -> None:
    transport = ScriptedTransport([failure, failure])
    told: list[uploader.Sleep] = []
    with fake_time() as clock:
        receipts = face.call(transport, "upload_lines", lines(3), on_retry=told.append)
    assert len(receipts) == 1
    assert len(transport.requests) == 3
    assert len({(request.body, str(request.headers)) for request in transport.requests}) == 1
    assert clock.sleeps == [1, 2]
    assert [(one.attempt, one.delay_s) for one in told] == [(1, 1), (2, 2)]


@both
def test_attempts_end_with_what_was_committed(face: Face) -> None:
    transport = ScriptedTransport([201, *[connect_error] * 3])
    with fake_time() as clock, pytest.raises(uploader.TransportError, match="3 attempts") as caught:
        face.call(transport, "upload_lines", lines(2), max_attempts=3, max_in_flight=1, **EACH)
    assert clock.sleeps == [1, 2]
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert "service.test" in str(caught.value)
    assert [receipt.upload_id for receipt in caught.value.receipts] == [hashlib.sha256(lines(1)[0]).hexdigest()]
    assert caught.value.batch is not None
    assert caught.value.batch.first_line_number == 2


@both
def test_a_time_out_has_its_own_type(face: Face) -> None:
    transport = ScriptedTransport([httpx.ReadTimeout("")])
    with pytest.raises(uploader.APITimeoutError, match="ReadTimeout"):
        face.call(transport, "upload_lines", lines(1), max_attempts=1)


@both
def test_retry_after_is_obeyed_up_to_a_minute(face: Face) -> None:
    script = [
        refusal(429, "rate_limited", headers={"Retry-After": "3"}),
        refusal(503, "ingest_unavailable", headers={"Retry-After": "3600"}),
        refusal(503, "ingest_unavailable", headers={"Retry-After": "Thu, 01 Jan 2026 00:01:13 GMT"}),
        refusal(429, "rate_limited", headers={"Retry-After": "soon"}),
    ]
    with fake_time() as clock:
        face.call(ScriptedTransport(script), "upload_lines", lines(1))
    assert clock.sleeps == [3, 60, 10, 8]  # the date is 73 s after the clock's start, 63 s of which have passed


@both
@pytest.mark.parametrize(
    "answer",
    [
        json_response(201, {"upload_id": "ab" * 32, "status": "committed"}),
        json_response(201, {"status": "committed"}),
        httpx.Response(201, content=b"<html>Welcome to the hotel</html>"),
        httpx.Response(200),
        httpx.Response(204),
    ],
)
def test_a_success_without_the_receipt_is_an_error(face: Face, answer: httpx.Response) -> None:
    transport = ScriptedTransport([answer])
    with pytest.raises(uploader.InvalidAnswerError):
        face.call(transport, "upload_lines", lines(1))
    assert len(transport.requests) == 1


@both
def test_a_gateway_that_takes_less_gets_less(face: Face) -> None:
    reported: list[uploader.Batch] = []
    transport = ScriptedTransport([413, 201, 201])
    receipts = face.call(transport, "upload_lines", lines(5), on_batch=lambda batch, _: reported.append(batch))
    assert [(batch.first_line_number, batch.num_lines) for batch in reported] == [(1, 2), (3, 3)]
    assert [receipt.upload_id for receipt in receipts] == [batch.digest for batch in reported]


@both
def test_no_key_no_request(face: Face) -> None:
    transport = ScriptedTransport()
    pulled: list[int] = []

    def source() -> Any:
        pulled.append(1)
        yield b"1\n"

    for action in (lambda c: c.upload_lines(source()), lambda c: c.list(), lambda c: c.get_raw("t")):
        with pytest.raises(uploader.MissingAPIKeyError, match="PRIME_API_KEY"):
            face.use(transport, action, api_key="")
    assert transport.requests == []
    assert pulled == []


@both
@pytest.mark.parametrize(
    "arguments", [{"max_attempts": 0}, {"line_format": "x"}, {"compress": 99}, {"max_in_flight": 9}]
)
def test_options_are_checked_before_anything_is_done(face: Face, arguments: dict[str, Any]) -> None:
    transport = ScriptedTransport()
    with pytest.raises(uploader.ConfigurationError):
        face.call(transport, "upload_lines", iter([b"1\n"]), **arguments)
    assert transport.requests == []


@both
def test_nothing_to_upload(face: Face, tmp_path: Path) -> None:
    transport = ScriptedTransport()
    (tmp_path / "empty.jsonl").write_bytes(b"\n \n")
    assert face.call(transport, "upload_lines", []) == []
    assert face.call(transport, "upload_records", []) == []
    assert face.call(transport, "upload_file", tmp_path / "empty.jsonl") == []
    assert transport.requests == []


@both
def test_a_file_makes_the_batches_of_its_lines(face: Face, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"".join(lines(25)))
    of_file, of_lines = ScriptedTransport(), ScriptedTransport()
    face.call(of_file, "upload_file", str(path), target_batch_bytes=100)
    face.call(of_lines, "upload_lines", lines(25), target_batch_bytes=100)
    assert {request.body for request in of_file.requests} == {request.body for request in of_lines.requests}
    assert len(of_file.requests) == 3


class Record:
    def iter_json(self) -> Any:
        yield b'{"a":'
        yield b"1}"


@both
def test_records_of_every_kind(face: Face) -> None:
    transport = ScriptedTransport()
    face.call(transport, "upload_records", [{"a": 1}, Record(), b'{"a":1}\n'])
    assert [request.digest for request in transport.requests] == [hashlib.sha256(b'{"a":1}\n' * 3).hexdigest()]


@both
def test_a_line_too_long_is_refused_before_any_request(face: Face, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"1\n" + b"2" * (64 * 1024 * 1024 + 1) + b"\n")
    transport = ScriptedTransport()
    with pytest.raises(uploader.TraceTooLargeError) as caught:
        face.call(transport, "upload_file", path)
    assert (caught.value.line_number, caught.value.size) == (2, 64 * 1024 * 1024 + 1)
    assert transport.requests == []


def test_a_coroutine_function_needs_the_async_client() -> None:
    async def hook(*_: Any) -> None: ...

    for name in ("on_batch", "on_retry"):
        with pytest.raises(uploader.ConfigurationError, match="AsyncTracesClient"):
            Face("sync").call(ScriptedTransport(), "upload_lines", lines(1), **{name: hook})


@both
def test_settings_come_from_the_environment(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIME_API_KEY", "of-env")
    monkeypatch.setenv("PRIME_TEAM_ID", "env-team")
    monkeypatch.setenv("PRIME_TRACES_URL", "https://env.test/api/v1/")
    transport = ScriptedTransport()
    face.use(transport, lambda client: client.upload_lines(lines(1)), api_key=None, base_url=None, team_id=None)
    (request,) = transport.requests
    assert str(request.url) == "https://env.test/api/v1/traces"
    assert request.headers["authorization"] == "Bearer of-env"
    assert request.headers["x-prime-team-id"] == "env-team"


@both
def test_the_time_limits_can_be_chosen(face: Face) -> None:
    for timeout, expected in [
        (None, {"connect": 10.0, "read": 120.0, "write": 120.0, "pool": 120.0}),
        (7, {"connect": 7, "read": 7, "write": 7, "pool": 7}),
        (httpx.Timeout(5, read=6), {"connect": 5, "read": 6, "write": 5, "pool": 5}),
    ]:
        seen = face.use(ScriptedTransport(), lambda client: client._http.timeout.as_dict(), timeout=timeout)
        assert seen == expected
