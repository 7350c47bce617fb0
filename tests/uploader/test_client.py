"""Both clients against a scripted service: every row of the contract's table, reading, settings, secrets."""

import gzip
import hashlib
import json
import logging
import traceback
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import uploader
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
@pytest.mark.parametrize("failure", TEMPORARY, ids=str)
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


@both
@pytest.mark.parametrize("location", ["http://elsewhere.test/api/v1/traces", "https://service.test/api/v1/traces"])
def test_an_upload_is_not_redirected_elsewhere(face: Face, location: str) -> None:
    transport = ScriptedTransport([httpx.Response(307, headers={"Location": location})])
    with pytest.raises(uploader.RedirectError, match="PRIME_TRACES_URL"):
        face.call(transport, "upload_lines", lines(1))
    assert len(transport.requests) == 1


@both
def test_reading_is_redirected_without_the_key(face: Face) -> None:
    transport = ScriptedTransport(
        [httpx.Response(302, headers={"Location": "https://store.test/blob"}), httpx.Response(200, content=b"raw")]
    )
    assert face.call(transport, "get_raw", "t") == b"raw"
    first, second = transport.requests
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert str(second.url) == "https://store.test/blob"
    assert KEY not in str(second.headers.raw)


@both
def test_the_key_is_nowhere_to_be_seen(face: Face, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    script: list[Any] = [
        refusal(503, f"x_{KEY}", f"bad {KEY}"),
        httpx.ConnectError("refused"),
        httpx.Response(401, text=f"the key {KEY} is wrong"),
    ]
    shown: list[str] = []

    def act(client: Any) -> Any:
        shown.append(f"{client!r} {client} {client.config!r} {vars(client)}")
        return client.upload_lines(lines(1), on_retry=lambda retry: shown.append(repr(retry)))

    with fake_time(), pytest.raises(uploader.UnauthorizedError) as caught:
        face.use(ScriptedTransport(script), act)
    assert "retr" in str(caplog.text).lower() or "attempt" in caplog.text
    for text in (*shown, caplog.text, str(caught.value), repr(caught.value), str(vars(caught.value))):
        assert KEY not in text


def call(client: Any, method: str, args: list[Any]) -> Any:
    return getattr(client, method)(*args)


def repeating(text: str) -> Exception:
    """A transport's error that repeats the key, with causes that do, too."""
    error = httpx.ConnectError(f"proxy: {text}")
    error.__cause__ = OSError(111, f"socket: {text}")
    error.__cause__.__cause__ = ExceptionGroup("several", [ValueError(f"inner: {text}")])
    return error


@both
@pytest.mark.parametrize("key", [KEY, "pk/with?odd+'\"\\%chars", "PK-Upper"])
def test_nobody_elses_text_shows_the_key(face: Face, key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    quoted = quote(key, safe="")
    places = [f"/x/{quoted}", f"https://{key.lower()}.test/" if key.isascii() and "/" not in key else f"/{quoted}/y"]
    failures: list[Any] = [*(repeating(text) for text in (key, quoted, repr(key))),
                *(httpx.Response(status, headers={"Location": place}) for place in places for status in (302, 307)),
                httpx.Response(400, text=f"bad {quoted} {key.upper()}"),
                json_response(200, RUN | {"context": {key: 5}})]  # fmt: skip
    for failure in failures:
        for method, args in (("get_run", ["r"]), ("upload_lines", [lines(1)])):
            with fake_time(), pytest.raises(uploader.APIError) as caught:
                face.use(ScriptedTransport([failure] * 5), partial(call, method=method, args=args), api_key=key)
            caught.value.__traceback__ = None
            shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(caught.value))
            for form in (key, quoted, key.lower(), repr(key)[1:-1]):
                assert form not in shown
                assert form not in caplog.text


@both
def test_a_redirect_that_repeats_the_key_is_not_followed(face: Face) -> None:
    transport = ScriptedTransport([httpx.Response(302, headers={"Location": f"https://store.test/?key={KEY}"})])
    with pytest.raises(uploader.RedirectError):
        face.call(transport, "get_raw", "t")
    assert len(transport.requests) == 1


SUMMARY = {
    "trace_id": "t", "upload_id": "u", "episode_id": None, "created_at": "2026-01-01T00:00:00Z",
    "ingested_at": "2026-01-01T00:00:01Z", "run_id": "r", "environment_id": None,
    "model": {"provider": None, "id": "m"}, "task_id": None, "agent_name": "a",
    "score": {"reward": 0.5, "outcome": None}, "execution": {"has_error": False, "is_truncated": False},
    "duration_ms": 1, "total_tokens": 2, "size_bytes": 3, "context": {"k": "v"}, "added_later": 1,
}  # fmt: skip
EPISODE = {
    "episode_id": "e", "upload_id": "u", "schema_version": 1, "created_at": "2026-01-01T00:00:00Z",
    "ingested_at": "2026-01-01T00:00:01Z", "run_id": None, "environment_id": None, "outcome": None,
    "has_error": True, "error": {"type": "E", "message": "m"},
}  # fmt: skip
TOTALS = {
    "trace_count": 1, "total_tokens": 2, "total_duration_ms": 3, "any_trace_error": False, "agent_names": ["a"],
}  # fmt: skip
RUN = {
    "run_id": "r", "first_trace_created_at": "2026-01-01T00:00:00Z",
    "last_trace_created_at": "2026-01-01T00:00:00Z", "last_trace_ingested_at": "2026-01-01T00:00:00Z",
    "trace_count": 1, "episode_count": 1, "avg_reward": None, "step_min": None, "step_max": None, "step_count": 0,
    "has_error": False, "first_user_id": None, "environment_ids": [], "model_ids": ["m"], "context": {},
}  # fmt: skip
NODE = {"node_idx": 0, "parent_idx": None, "timestamp": 1.5, "sampled": False,
        "message": {"role": "user", "content": "hi"}}  # fmt: skip
CALL = {"call_idx": 0, "node_idx": 1, "time_start": 1.0, "time_end": None, "model": "m", "endpoint": None,
        "finish_reason": "stop"}  # fmt: skip
STEPS = {"step_min": 0, "step_max": 0, "step_count": 1,
         "items": [{"step": 0, "trace_count": 1, "episode_count": 1, "avg_reward": 0.5}]}  # fmt: skip


def page(*items: Any, cursor: str | None = None) -> dict[str, Any]:
    return {"items": list(items), "next_cursor": cursor}


READS = [
    ("list", (), {"run_id": "r"}, page(SUMMARY), "/traces?run_id=r", lambda got: got.items[0].score.reward == 0.5),
    ("get", ("t/1",), {}, SUMMARY, "/traces/t%2F1", lambda got: got.added_later == 1),
    ("list_nodes", ("t",), {"role": ["user"], "limit": 5}, page(NODE), "/traces/t/nodes?role=user&limit=5",
     lambda got: got.items[0].message.content == "hi"),
    ("list_calls", ("t",), {}, page(CALL), "/traces/t/calls", lambda got: got.items[0].finish_reason == "stop"),
    ("list_episodes", (), {"context": {"a": "b"}}, page(EPISODE), "/episodes?context.a=b",
     lambda got: got.items[0].error.type == "E"),
    ("get_episode", ("e",), {}, EPISODE | {"traces": TOTALS}, "/episodes/e", lambda got: got.traces.trace_count == 1),
    ("list_episode_traces", ("e",), {}, page(SUMMARY), "/episodes/e/traces", lambda got: got.next_cursor is None),
    ("list_runs", (), {"run_type": "eval"}, page(RUN), "/runs?run_type=eval", lambda got: got.items[0].run_id == "r"),
    ("get_run", ("r",), {}, RUN, "/runs/r", lambda got: got.model_ids == ["m"]),
    ("list_run_steps", ("r",), {}, STEPS, "/runs/r/steps", lambda got: got.items[0].avg_reward == 0.5),
]  # fmt: skip


@both
@pytest.mark.parametrize(("method", "args", "kwargs", "body", "path", "check"), READS, ids=[read[0] for read in READS])
def test_reading_back(face: Face, method: str, args: Any, kwargs: Any, body: Any, path: str, check: Any) -> None:
    transport = ScriptedTransport([503, httpx.ReadError("cut"), json_response(200, body)])
    with fake_time() as clock:
        assert check(face.call(transport, method, *args, **kwargs))
    assert [request.method for request in transport.requests] == ["GET"] * 3
    assert {f"{URL}/api/v1{path}"} == {str(request.url) for request in transport.requests}
    assert clock.sleeps == [1, 2]


@both
@pytest.mark.parametrize(
    ("method", "item", "ids"),
    [("iter", SUMMARY, "trace_id"), ("iter_episodes", EPISODE, "episode_id"), ("iter_runs", RUN, "run_id")],
)
def test_iterating_goes_through_all_pages(face: Face, method: str, item: dict[str, Any], ids: str) -> None:
    transport = ScriptedTransport(
        [
            json_response(200, page(item | {ids: "1"}, item | {ids: "2"}, cursor="c&1")),
            json_response(200, page(cursor="c2")),
            json_response(200, page(item | {ids: "3"})),
        ]
    )
    found = face.call(transport, method, limit=2)
    assert [getattr(one, ids) for one in found] == ["1", "2", "3"]
    assert [dict(request.url.params) for request in transport.requests] == [
        {"limit": "2"},
        {"limit": "2", "cursor": "c&1"},
        {"limit": "2", "cursor": "c2"},
    ]


@both
def test_reading_errors(face: Face) -> None:
    for answer, cls in [
        (refusal(404, "run_not_found"), uploader.NotFoundError),
        (refusal(409, "trace_not_indexed"), uploader.TraceNotIndexedError),
        (httpx.Response(200, content=b"<html>"), uploader.InvalidAnswerError),
    ]:
        with pytest.raises(cls):
            face.call(ScriptedTransport([answer]), "get_run", "r")


class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that ends too soon."""

    def __iter__(self) -> Any:
        yield b"half of "
        raise httpx.ReadError("reset")

    async def __aiter__(self) -> Any:
        for chunk in self:
            yield chunk


@both
@pytest.mark.parametrize(("get", "download", "kind"), [
    ("get_raw", "download_raw", "traces"), ("get_episode_raw", "download_episode_raw", "episodes")
])  # fmt: skip
def test_raw_documents(face: Face, get: str, download: str, kind: str, tmp_path: Path) -> None:
    raw = bytes(range(256)) * 4000

    def script() -> ScriptedTransport:
        return ScriptedTransport([503, httpx.Response(200, stream=Broken()), httpx.Response(200, content=raw)])

    with fake_time():
        transport = script()
        assert face.call(transport, get, "x y") == raw
        assert str(transport.requests[0].url) == f"{URL}/api/v1/{kind}/x%20y?raw=true"
        assert face.call(script(), download, "x", tmp_path / "raw") == len(raw)
    assert (tmp_path / "raw").read_bytes() == raw
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


@both
def test_a_failed_download_leaves_nothing(face: Face, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"old")
    transport = ScriptedTransport([httpx.Response(200, stream=Broken()) for _ in range(5)])
    with fake_time(), pytest.raises(uploader.TransportError):
        face.call(transport, "download_raw", "t", tmp_path / "raw")
    assert (tmp_path / "raw").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


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
