"""What is read of a trace: any producer's untidiness passes, what breaks the contract does not."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.uploader.receiver.support import dumps
from uploader.receiver import documents
from uploader.receiver.documents import decode_errors, decode_trace, loose_integer, loose_text
from uploader.receiver.errors import RequestRefusedError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(extra=st.dictionaries(st.text().map("x".__add__), JSON, max_size=4), loose=JSON, escape=st.booleans())
def test_anything_may_stand_beside_what_is_indexed(extra: dict[str, Any], loose: Any, escape: bool) -> None:
    record = {
        **extra,
        "id": "t",
        "task": {"data": {"id": loose, "idx": loose}},
        "agent": {"config": {"model": loose, "provider": loose}},
        "info": {"outcome": loose},
        "calls": [{"error": loose}],
        "nodes": loose,
    }
    data = json.dumps(record, ensure_ascii=escape).encode()
    trace = decode_trace(data, "Line 1")
    assert trace.record.info is not None
    assert loose_text(trace.record.info.outcome) == (loose if isinstance(loose, str) else None)


@given(JSON)
def test_every_null_is_an_absence(value: Any) -> None:
    fields = [
        "env",
        "run",
        "task",
        "agent",
        "calls",
        "rewards",
        "info",
        "stop_condition",
        "errors",
        "timing",
        "num_total_tokens",
    ]
    nulls = dumps({"id": "t", **dict.fromkeys(fields)})
    assert decode_trace(nulls, "") == decode_trace(dumps({"id": "t", "other": value}), "")


@pytest.mark.parametrize(
    "fields",
    [
        {"env": {"id": 1}}, {"run": {"id": []}}, {"run": {"work": {"step": "1"}}}, {"calls": {}}, {"calls": [1]},
        {"calls": [{"model": 1}]}, {"rewards": []}, {"rewards": {"a": 1}}, {"rewards": {"a": {}}}, {"errors": [1]},
        {"timing": {"start": "now"}}, {"num_total_tokens": "1"}, {"stop_condition": 1}, {"info": []},
        {"agent": {"name": 1}},
    ],
)  # fmt: skip
def test_wrong_types_of_what_is_indexed(fields: dict[str, Any]) -> None:
    with pytest.raises(RequestRefusedError, match=r"^invalid_trace: Line 7") as caught:
        decode_trace(dumps({"id": "t", **fields}), "Line 7")
    assert next(iter(fields)) in str(caught.value)


def test_long_parts_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_PART_BYTES", 10)
    trace = decode_trace(b'{"id":"t","calls":[{},{},{},{}],"rewards":{},"errors":[{},{},{},{}]}', "")
    assert (trace.calls, trace.rewards, len(trace.errors)) == ([], {}, 1)
    assert decode_errors(msgspec.Raw(b"[]"), "") == []


@pytest.mark.parametrize(
    ("value", "text", "integer"),
    [
        ("null", None, None), ('"a"', "a", None), ("1", None, 1), ("true", None, None), ("1.5", None, None),
        ("[]", None, None), ("1e999", None, None), ("9" * 5000, None, None), (f'"{"x" * 70_000}"', None, None),
    ],
)  # fmt: skip
def test_loose_values(value: str, text: str | None, integer: int | None) -> None:
    raw = msgspec.Raw(value.encode())
    assert (loose_text(raw), loose_integer(raw)) == (text, integer)
