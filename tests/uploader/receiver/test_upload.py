"""Uploads over HTTP: the receipt, and every code that the contract documents for one."""

import gzip
import random
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.uploader.receiver.conftest import Serve
from tests.uploader.receiver.support import code_of, dumps, episode, jsonl, key_of, message_of, parts_of, post, trace
from uploader.receiver import ReceiverProcess

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_receipt_names_the_digest(client: httpx.Client, compress: bool, end: bytes) -> None:
    data = dumps(trace(f"receipt-{compress}-{len(end)}")) + end
    response = post(client, data, compress=compress)
    assert response.status_code == 201
    assert response.json() == {"upload_id": key_of(data).removeprefix("sha256:"), "status": "committed"}


def test_replay_gives_the_same_receipt_and_stores_once(client: httpx.Client) -> None:
    data = jsonl(trace("replayed"))
    first = post(client, data, context={"n": "1"})
    again = post(client, data, context={"n": "2"}, compress=False)
    assert (again.status_code, again.json()) == (201, first.json())
    listed = client.get("/api/v1/traces", params={"upload_id": first.json()["upload_id"]}).json()["items"]
    assert [(item["trace_id"], item["context"]) for item in listed] == [("replayed", {"n": "1"})]


def test_same_bytes_at_once_are_stored_once(client: httpx.Client) -> None:
    data = jsonl(*(trace(f"at-once-{number}") for number in range(500)))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(client, data), range(8)))
    assert {(answer.status_code, answer.text) for answer in answers} == {(201, answers[0].text)}
    listed = client.get("/api/v1/traces", params={"upload_id": answers[0].json()["upload_id"], "limit": 100})
    assert len(listed.json()["items"]) == 100


def test_replay_of_other_bytes_under_a_stored_key_is_a_mismatch(client: httpx.Client) -> None:
    data = jsonl(trace("keyed"))
    assert post(client, data).status_code == 201
    other = post(client, jsonl(trace("other")), headers={"Idempotency-Key": key_of(data)})
    assert code_of(other) == (400, "digest_mismatch")


@pytest.mark.parametrize("first", ["trace", "episode"])
def test_other_line_format_conflicts(client: httpx.Client, first: str) -> None:
    record = trace("conflict") if first == "trace" else episode("conflict")
    second = "episode" if first == "trace" else "trace"
    assert post(client, jsonl(record), line_format=first).status_code == 201
    assert code_of(post(client, jsonl(record), line_format=second)) == (409, "line_format_conflict")


def test_members_in_several_gzip_members(client: httpx.Client) -> None:
    lines = [jsonl(trace(f"member-{number}")) for number in range(3)]
    body = b"".join(map(gzip.compress, lines))
    assert post(client, b"".join(lines), files=parts_of(body)).status_code == 201


def test_blank_lines_are_skipped_and_counted(client: httpx.Client) -> None:
    data = b"\n \t\r\n" + jsonl(trace("after-blanks")) + b"\n\nnonsense\n"
    refused = post(client, data)
    assert code_of(refused) == (400, "invalid_trace")
    assert "Line 6" in message_of(refused)
    data = b"\n \t\r\n" + jsonl(trace("after-blanks")) + b"\r\n"
    assert post(client, data).status_code == 201
    assert client.get("/api/v1/traces/after-blanks?raw=true").content == dumps(trace("after-blanks"))


BAD_BODIES: dict[str, tuple[bytes, str | None, str]] = {
    "empty": (b"", None, "invalid_trace"),
    "blank": (b"\n\n", None, "invalid_trace"),
    "no JSON": (jsonl(trace("a")) + b"{\n", None, "invalid_trace"),
    "two values": (b'{"id":"a"}{"id":"b"}\n', None, "invalid_trace"),
    "bad JSON where nothing is indexed": (b'{"id":"a","x":[1,]}\n', None, "invalid_trace"),
    "NaN": (b'{"id":"a","x":NaN}\n', None, "invalid_trace"),
    "byte order mark": (b'\xef\xbb\xbf{"id":"a"}\n', None, "invalid_trace"),
    "deep": (b'{"id":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", None, "invalid_trace"),
    "no id": (b"{}\n", None, "invalid_trace"),
    "null id": (b'{"id":null}\n', None, "invalid_trace"),
    "empty id": (b'{"id":""}\n', None, "invalid_trace"),
    "long id": (jsonl(trace("i" * 257)), None, "invalid_trace"),
    "not an object": (b"[]\n", None, "invalid_trace"),
    "a huge integer": (b'{"id":"a","num_total_tokens":9223372036854775808}\n', None, "invalid_trace"),
    "no UTF-8": (b'{"id":"a","x":"\xff"}\n', None, "malformed_encoding"),
    "no UTF-8 in a key": (b'{"id":"a","\xff":1}\n', None, "malformed_encoding"),
    "encoded surrogate": (b'{"id":"a","x":"\xed\xa0\x80"}\n', None, "malformed_encoding"),
    "lone surrogate": (b'{"id":"a","x":"\\ud800"}\n', None, "malformed_encoding"),
    "lone low surrogate": (b'{"id":"a","x":"\\\\\\udc00 and more"}\n', None, "malformed_encoding"),
    "episode among traces": (jsonl(episode("a")), None, "line_format_mismatch"),
    "trace among episodes": (jsonl(trace("a")), "episode", "line_format_mismatch"),
    "doubled trace": (jsonl(trace("a"), trace("a")), None, "duplicate_trace_id"),
    "doubled episode": (jsonl(episode("a"), episode("a")), "episode", "duplicate_episode_id"),
    "doubled member": (jsonl(episode("a", trace("m")), episode("b", trace("m"))), "episode", "duplicate_trace_id"),
    "doubled within": (jsonl(episode("a", trace("m"), trace("m"))), "episode", "duplicate_trace_id"),
    "long episode id": (jsonl(episode("é" * 129)), "episode", "episode_id_too_long"),
    "empty episode id": (jsonl(episode("")), "episode", "invalid_trace"),
    "long environment id": (jsonl({**episode("a"), "env": {"id": "e" * 257}}), "episode", "environment_id_too_long"),
    "many members": (
        jsonl(episode("a", *(trace(str(n)) for n in range(4097)))),
        "episode",
        "too_many_traces_in_episode",
    ),
    "member that is no trace": (b'{"id":"a","traces":[5]}\n', "episode", "invalid_trace"),
    "member without id": (b'{"id":"a","traces":[{}]}\n', "episode", "invalid_trace"),
    "traces that are no list": (b'{"id":"a","traces":{}}\n', "episode", "invalid_trace"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_bad_lines_store_nothing(client: httpx.Client, name: str) -> None:
    data, line_format, code = BAD_BODIES[name]
    good = jsonl(trace(f"beside {name}") if line_format is None else episode(f"beside {name}", trace(f"in {name}")))
    response = post(client, good + data if data.strip() else data, line_format=line_format)
    assert code_of(response) == (400, code)
    assert "Line " in message_of(response) or not data.strip()
    for kind in ("traces", "episodes"):
        assert client.get(f"/api/v1/{kind}/beside {name}").status_code == 404
    # The same bytes get the same verdict.
    assert code_of(post(client, good + data if data.strip() else data, line_format=line_format)) == (400, code)


def test_the_limits_themselves_are_allowed(client: httpx.Client) -> None:
    record = episode("é" * 128, *(trace(f"at the limit {n}") for n in range(4096)))
    record["env"] = {"id": "e" * 256}
    assert post(client, jsonl(record), line_format="episode").status_code == 201


def test_limits_of_bytes_and_lines(serve: Serve) -> None:
    client = serve(max_request_bytes=3000, max_line_bytes=1000, max_lines=5)

    def sized(name: str, size: int) -> bytes:
        line = dumps(trace(name))
        return line[:-1] + b" " * (size - len(line)) + b"}"

    assert post(client, sized("a", 1000) + b"\n").status_code == 201
    assert code_of(post(client, sized("b", 1001) + b"\n")) == (400, "trace_too_large")
    assert post(client, b"\n".join(sized(f"c{n}", 999) for n in range(3)) + b"\n").status_code == 201
    assert code_of(post(client, b"\n".join(sized(f"d{n}", 999) for n in range(3)) + b"\n ")) == (
        400,
        "upload_too_large",
    )
    assert post(client, jsonl(*(trace(f"e{n}") for n in range(5)))).status_code == 201
    assert code_of(post(client, jsonl(*(trace(f"f{n}") for n in range(6))))) == (400, "too_many_traces_in_upload")
    # A body that announces or sends too much is cut short.
    big = jsonl(trace("big", x="x" * 2_000_000))
    assert code_of(post(client, big, compress=False)) == (400, "upload_too_large")


BAD_GZIP = {
    "plain": b'{"id":"a"}\n',
    "empty": b"",
    "cut": gzip.compress(b'{"id":"a"}\n')[:-5],
    "check sum": gzip.compress(b'{"id":"a"}\n')[:-8] + b"\0" * 8,
    "garbage behind": gzip.compress(b'{"id":"a"}\n') + b"garbage",
    "zlib": zlib.compress(b'{"id":"a"}\n'),
}


@pytest.mark.parametrize("name", BAD_GZIP)
def test_broken_gzip(client: httpx.Client, name: str) -> None:
    response = post(client, b'{"id":"a"}\n', files=parts_of(BAD_GZIP[name]))
    assert code_of(response) == (400, "malformed_encoding")


def test_unknown_content_encoding(client: httpx.Client) -> None:
    assert code_of(post(client, b"{}", files=parts_of(b"{}", encoding="br"))) == (400, "malformed_encoding")


@pytest.mark.parametrize(
    "key",
    ["", "sha256:", "a" * 64, "sha256:" + "A" * 64, "sha256:" + "a" * 63, "sha256:" + "a" * 65, "sha512:" + "a" * 64],
)
def test_bad_idempotency_key(client: httpx.Client, key: str) -> None:
    response = post(client, jsonl(trace("k")), headers={"Idempotency-Key": key})
    assert code_of(response) == (400, "invalid_idempotency_key")


def test_missing_idempotency_key(client: httpx.Client) -> None:
    assert code_of(post(client, jsonl(trace("k")), headers={})) == (400, "invalid_idempotency_key")


def test_digest_mismatch(client: httpx.Client) -> None:
    response = post(client, jsonl(trace("k")), headers={"Idempotency-Key": "sha256:" + "0" * 64})
    assert code_of(response) == (400, "digest_mismatch")


def test_unknown_line_format(client: httpx.Client) -> None:
    assert code_of(post(client, jsonl(trace("k")), line_format="csv")) == (400, "invalid_metadata")


_DATA = jsonl(trace("metadata"))
_TRACES = parts_of(gzip.compress(_DATA))[1]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (parts_of(gzip.compress(_DATA), b"{"), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b"[]"), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b"{}"), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b'{"schema_version":"1"}'), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b'{"schema_version":1,"context":{"a":1}}'), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b'{"schema_version":1,"context":{"a":"\xff"}}'), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b'{"schema_version":1}' + b" " * 70_000), "invalid_metadata"),
        (parts_of(gzip.compress(_DATA), b'{"schema_version":2}'), "unsupported_schema_version"),
        ([_TRACES], "invalid_metadata"),
        (parts_of(b"")[:1], "invalid_metadata"),
        ([*parts_of(gzip.compress(_DATA)), _TRACES], "invalid_metadata"),
        ([*parts_of(gzip.compress(_DATA)), parts_of(b"")[0]], "invalid_metadata"),
        ([*parts_of(gzip.compress(_DATA)), ("more", (None, b"x"))], "invalid_metadata"),
    ],
)
def test_bad_forms(client: httpx.Client, files: Any, code: str) -> None:
    assert code_of(post(client, _DATA, files=files)) == (400, code)


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"{}"),
        ("multipart/form-data; boundary=x", b"nonsense"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; name=traces\r\n\r\n{}"),
        ("multipart/form-data; boundary=" + "x" * 300, b"{}"),
    ],
)
def test_broken_forms(client: httpx.Client, content_type: str, content: bytes) -> None:
    headers = {"Idempotency-Key": key_of(b""), "Content-Type": content_type}
    response = client.post("/api/v1/traces", headers=headers, content=content)
    assert code_of(response) == (400, "invalid_metadata")


def test_parts_in_either_order(client: httpx.Client) -> None:
    data = jsonl(trace("turned around"))
    assert post(client, data, files=parts_of(gzip.compress(data))[::-1]).status_code == 201


def test_metadata_context_is_kept(client: httpx.Client) -> None:
    context = {"ключ": 'a "quoted" value', "a.b": "", "\0": "\n"}
    assert post(client, jsonl(trace("in context")), context=context).status_code == 201
    assert client.get("/api/v1/traces/in context").json()["context"] == context


def test_the_newest_upload_of_an_id_wins(client: httpx.Client) -> None:
    old = episode("e-again", trace("kept", rewards={"r": {"score": 1.0}}), trace("dropped"))
    new = episode("e-again", trace("kept", rewards={"r": {"score": 2.0}}))
    old_id = post(client, jsonl(old), line_format="episode").json()["upload_id"]
    new_id = post(client, jsonl(new), line_format="episode").json()["upload_id"]
    # Sending the older bytes again is a replay, not a newer upload.
    assert post(client, jsonl(old), line_format="episode").json()["upload_id"] == old_id
    assert client.get("/api/v1/episodes/e-again").json()["upload_id"] == new_id
    assert client.get("/api/v1/episodes/e-again?raw=true").content == dumps(new)
    members = client.get("/api/v1/episodes/e-again/traces").json()["items"]
    assert [(item["trace_id"], item["score"]["reward"]) for item in members] == [("kept", 2.0)]
    assert client.get("/api/v1/traces/dropped").status_code == 404
    bare = trace("kept", rewards={"r": {"score": 3.0}})
    post(client, jsonl(bare))
    assert client.get("/api/v1/traces/kept?raw=true").content == dumps(bare)


def test_refused_before_any_work_when_full(serve: Serve) -> None:
    client = serve(max_requests_in_flight=2, hold_upload_s=3.0, retry_after_s=7)
    with ThreadPoolExecutor(2) as pool:
        held = [pool.submit(post, client, jsonl(trace(f"held-{n}"))) for n in range(2)]
        while client.get("/healthz").json()["uploads_in_flight"] < 2:
            threading.Event().wait(0.01)
        refused = post(client, jsonl(trace("refused")))
        assert code_of(refused) == (503, "ingest_capacity_exceeded")
        assert refused.headers["retry-after"] == "7"
        assert [future.result().status_code for future in held] == [201, 201]
    assert post(client, jsonl(trace("refused"))).status_code == 201


def test_a_full_disk_is_no_verdict(tmp_path: Path) -> None:
    prlimit = getattr(resource, "prlimit", None) if resource else None
    if prlimit is None or resource is None:
        pytest.skip("no way to fill a disk here")
    data = jsonl(trace("too much", text=random.Random(0).randbytes(200_000).hex()))
    with ReceiverProcess(tmp_path, log_level="critical") as receiver, httpx.Client(base_url=receiver.url) as client:
        prlimit(receiver.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        refused = post(client, data)
        assert code_of(refused) == (503, "storage_unavailable")
        assert refused.headers["retry-after"]
        prlimit(receiver.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert post(client, data).status_code == 201


def test_many_producers(client: httpx.Client) -> None:
    def produce(number: int) -> int:
        while True:
            response = post(client, jsonl(*(trace(f"p{number}-{n}") for n in range(20))), context={"many": "yes"})
            if response.status_code != 503:
                return response.status_code
            threading.Event().wait(0.01)

    with ThreadPoolExecutor(48) as pool:
        assert set(pool.map(produce, range(96))) == {201}
    seen, cursor = set(), None
    while True:
        params = {"context.many": "yes", "limit": "100", **({"cursor": cursor} if cursor else {})}
        answer = client.get("/api/v1/traces", params=params).json()
        seen |= {item["trace_id"] for item in answer["items"]}
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == 96 * 20


def test_silent_producer_is_let_go(serve: Serve) -> None:
    client = serve(body_timeout_s=0.2)
    released = threading.Event()

    def silent() -> Any:
        yield b"--x\r\n"
        released.wait(30)

    headers = {"Idempotency-Key": key_of(b""), "Content-Type": "multipart/form-data; boundary=x"}
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(client.post, "/api/v1/traces", headers=headers, content=silent())
        while client.get("/healthz").json()["most_uploads_in_flight"] < 1:
            threading.Event().wait(0.01)
        while client.get("/healthz").json()["uploads_in_flight"]:
            threading.Event().wait(0.01)
        released.set()
        assert isinstance(pending.exception() or pending.result(), httpx.TransportError | httpx.Response)
