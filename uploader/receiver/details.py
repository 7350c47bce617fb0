"""Pages of a trace's message nodes and model calls, read from its stored bytes when asked."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from uploader.receiver.answers import Answer, page
from uploader.receiver.cursors import decode_cursor, encode_cursor, scope_of
from uploader.receiver.documents import Span
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.filters import Params, filter_params, parse_flag, parse_integer, parse_paging
from uploader.receiver.queries import read_raw
from uploader.receiver.store import Store


class Node(Struct):
    """A message node; its columns are skipped."""

    parent: int | None = None
    timestamp: float | None = None
    sampled: bool = False
    message: msgspec.Raw = msgspec.Raw(b"{}")


class ModelCall(Struct):
    """A model call."""

    node: int | None = None
    model: str | None = None
    endpoint: str | None = None
    finish_reason: str | None = None
    time: Span | None = None


class _Role(Struct):
    role: str | None = None


class _NodesOnly(Struct):
    nodes: list[Node] | None = None


class _CallsOnly(Struct):
    calls: list[ModelCall] | None = None


_Details = TypeVar("_Details", _NodesOnly, _CallsOnly)


def list_nodes(store: Store, trace_id: str, params: Params) -> Answer:
    """A page of the trace's nodes in order; filters `role` (any of several), `sampled` and `after`.

    Raises:
        RequestRefusedError: `trace_not_found`, `invalid_filter`, `invalid_cursor`.
    """
    values = _values(params, ("role", "sampled", "after"), repeatable=("role",))
    roles = set(values.get("role", ()))
    sampled = _parse_one(values, "sampled", parse_flag)
    after = _parse_one(values, "after", parse_integer)
    if after is not None and any(name == "cursor" for name, _ in params):
        raise RequestRefusedError("invalid_filter", "after and cursor exclude each other.")
    nodes = _decode(store, trace_id, _NodesOnly).nodes or []

    def wanted(index: int) -> bool:
        node = nodes[index]
        if after is not None and index <= after:
            return False
        if sampled is not None and node.sampled != bool(sampled):
            return False
        return not roles or _role(node) in roles

    return _page(f"/traces/{trace_id}/nodes", params, len(nodes), wanted, lambda index: _node(index, nodes[index]))


def list_calls(store: Store, trace_id: str, params: Params) -> Answer:
    """A page of the trace's model calls in order; filters `model` and `finish_reason` (any of several).

    Raises:
        RequestRefusedError: `trace_not_found`, `invalid_filter`, `invalid_cursor`.
    """
    values = _values(params, ("model", "finish_reason"), repeatable=("model", "finish_reason"))
    calls = _decode(store, trace_id, _CallsOnly).calls or []

    def wanted(index: int) -> bool:
        return all(getattr(calls[index], name) in accepted for name, accepted in values.items())

    return _page(f"/traces/{trace_id}/calls", params, len(calls), wanted, lambda index: _call(index, calls[index]))


def _decode(store: Store, trace_id: str, kind: type[_Details]) -> _Details:
    data = b"".join(read_raw(store, "trace", trace_id).pieces)
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise RequestRefusedError(
            "trace_not_indexed", f"The trace's nodes or calls are not as agreed: {error}."
        ) from error


def _page(
    route: str, params: Params, count: int, wanted: Callable[[int], bool], item: Callable[[int], Answer]
) -> Answer:
    limit, cursor = parse_paging(params)
    scope = scope_of(route, filter_params(params))
    start = 0 if cursor is None else int(decode_cursor(cursor, scope, (int,))[0])
    found: list[int] = []
    for index in range(max(start, 0), count):
        if wanted(index):
            found.append(index)
            if len(found) > limit:
                break
    next_cursor = encode_cursor(scope, (found[limit],)) if len(found) > limit else None
    return {**page([item(index) for index in found[:limit]], next_cursor), "partial_index": False}


def _node(index: int, node: Node) -> Answer:
    message: Any = msgspec.json.decode(node.message)
    return {
        "node_idx": index,
        "parent_idx": node.parent,
        "timestamp": node.timestamp,
        "sampled": node.sampled,
        "message": {"role": None, **message} if isinstance(message, dict) else {"role": None, "content": message},
    }


def _role(node: Node) -> str | None:
    try:
        return msgspec.json.decode(node.message, type=_Role).role
    except msgspec.ValidationError:
        return None


def _call(index: int, call: ModelCall) -> Answer:
    return {
        "call_idx": index,
        "node_idx": call.node,
        "time_start": call.time.start if call.time is not None else None,
        "time_end": call.time.end if call.time is not None else None,
        "model": call.model,
        "endpoint": call.endpoint,
        "finish_reason": call.finish_reason,
    }


def _values(params: Params, known: tuple[str, ...], repeatable: tuple[str, ...]) -> Mapping[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in filter_params(params):
        if name not in known:
            raise RequestRefusedError("invalid_filter", f"{name[:100]!r} is no filter of this list.")
        values.setdefault(name, []).append(value)
        if len(values[name]) > 1 and name not in repeatable:
            raise RequestRefusedError("invalid_filter", f"{name} is given twice.")
    return values


def _parse_one(values: Mapping[str, list[str]], name: str, parse: Callable[[str], int]) -> int | None:
    if name not in values:
        return None
    try:
        return parse(values[name][0])
    except ValueError as error:
        raise RequestRefusedError("invalid_filter", f"{name} has an unusable value: {error}.") from error
