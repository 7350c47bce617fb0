"""Builds uploads by hand, byte by byte, so that no code of ours stands between a test and the receiver."""

import gzip
import hashlib
import json
from typing import Any

import httpx

Json = dict[str, Any]


def dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def jsonl(*records: object) -> bytes:
    return b"".join(dumps(record) + b"\n" for record in records)


def key_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def trace(trace_id: str = "t", **fields: Any) -> Json:
    return {"version": 1, "id": trace_id, "nodes": [], "calls": [], **fields}


def episode(episode_id: str = "e", *traces: Json, **fields: Any) -> Json:
    return {"id": episode_id, "env": {"id": "env"}, **fields, "errors": [], "traces": list(traces)}


def parts_of(
    body: bytes, metadata: bytes = b'{"schema_version":1}', encoding: str | None = "gzip"
) -> list[tuple[str, Any]]:
    headers = {} if encoding is None else {"Content-Encoding": encoding}
    return [
        ("metadata", (None, metadata, "application/json")),
        ("traces", ("traces.jsonl", body, "application/x-ndjson", headers)),
    ]


def post(
    client: httpx.Client,
    data: bytes,
    *,
    line_format: str | None = None,
    context: dict[str, str] | None = None,
    compress: bool = True,
    **overrides: Any,
) -> httpx.Response:
    """Upload bytes as the contract says; `overrides` replace what `Client.post` is given."""
    headers = {"Idempotency-Key": key_of(data)}
    if line_format is not None:
        headers["X-Prime-Line-Format"] = line_format
    metadata: Json = {"schema_version": 1}
    if context:
        metadata["context"] = context
    body = gzip.compress(data, 1, mtime=0) if compress else data
    files = parts_of(body, dumps(metadata), "gzip" if compress else None)
    return client.post("/api/v1/traces", **{"headers": headers, "files": files, **overrides})


def code_of(response: httpx.Response) -> tuple[int, str]:
    """Status and code; checks that the body has the contract's shape."""
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message"}
    assert body["error"]["message"]
    return response.status_code, body["error"]["code"]


def message_of(response: httpx.Response) -> str:
    return str(response.json()["error"]["message"])
