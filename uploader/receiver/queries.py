"""Reading traces and episodes from the index: summaries, pages, and where raw bytes lie."""

import sqlite3
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from uploader.receiver.answers import Answer, episode_summary, page, trace_summary
from uploader.receiver.blocks import iter_range, unpack_offsets
from uploader.receiver.cursors import decode_cursor, encode_cursor, scope_of
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.filters import (
    EPISODE_FILTERS,
    TRACE_FILTERS,
    Condition,
    Params,
    filter_params,
    parse_condition,
    parse_paging,
)
from uploader.receiver.store import Store

_TRACES: Final = "SELECT * FROM traces JOIN uploads USING (upload)"
_EPISODES: Final = "SELECT * FROM episodes JOIN uploads USING (upload)"
_AGGREGATE: Final = """
SELECT count(*) AS trace_count, coalesce(sum(total_tokens), 0) AS total_tokens,
    coalesce(sum(duration_ms), 0) AS total_duration_ms, coalesce(max(has_error), 0) AS any_trace_error
FROM traces WHERE episode_id = ?
"""
_AGENTS: Final = """
SELECT DISTINCT agent_name FROM traces WHERE episode_id = ? AND agent_name IS NOT NULL ORDER BY agent_name
"""


class Stored(NamedTuple):
    """The bytes of a stored record.

    Attributes:
        size: how many.
        pieces: the bytes, read as they are taken.
    """

    size: int
    pieces: Iterator[bytes]


def list_traces(store: Store, params: Params) -> Answer:
    """A page of traces, newest first."""
    condition = parse_condition(filter_params(params), TRACE_FILTERS, context=True)
    return _list(store, "trace", "/traces", params, condition)


def list_episodes(store: Store, params: Params) -> Answer:
    """A page of episodes, newest first. Steps match when one of the member traces has them."""
    condition = parse_condition(filter_params(params), EPISODE_FILTERS, context=True)
    return _list(store, "episode", "/episodes", params, condition)


def list_episode_traces(store: Store, episode_id: str, params: Params) -> Answer:
    """A page of an episode's member traces, newest first."""
    _find(store, "episode", episode_id)
    condition = parse_condition(filter_params(params), TRACE_FILTERS, context=True)
    member = Condition(f"{condition.sql} AND episode_id = ?", [*condition.values, episode_id])
    return _list(store, "trace", f"/episodes/{episode_id}/traces", params, member)


def get_trace(store: Store, trace_id: str) -> Answer:
    """The summary of one trace."""
    return trace_summary(_find(store, "trace", trace_id))


def get_episode(store: Store, episode_id: str) -> Answer:
    """The summary of one episode, with totals over its members."""
    summary = episode_summary(_find(store, "episode", episode_id))
    with store.index.connect() as connection:
        totals = dict(connection.execute(_AGGREGATE, (episode_id,)).fetchone())
        agents = [row["agent_name"] for row in connection.execute(_AGENTS, (episode_id,))]
    totals["any_trace_error"] = bool(totals["any_trace_error"])
    return {**summary, "traces": {**totals, "agent_names": agents}}


def read_raw(store: Store, kind: str, record_id: str) -> Stored:
    """The stored bytes of a trace or an episode, without an LF; of a member trace, its part of the line.

    Args:
        store: where it is stored.
        kind: `trace` or `episode`.
        record_id: its id.

    Raises:
        RequestRefusedError: `trace_not_found` or `episode_not_found`.
    """
    row = _find(store, kind, record_id)
    offsets = unpack_offsets(row["block_offsets"])
    path = store.lines_path(row["upload_id"])
    return Stored(row["size"], iter_range(path, offsets, row["offset"], row["size"]))


def _find(store: Store, kind: str, record_id: str) -> sqlite3.Row:
    query = f"{_TRACES if kind == 'trace' else _EPISODES} WHERE {kind}_id = ?"
    with store.index.connect() as connection:
        row = connection.execute(query, (record_id,)).fetchone()
    if row is None:
        raise RequestRefusedError(f"{kind}_not_found", f"No {kind} with the id {record_id[:256]!r} is stored here.")
    return cast("sqlite3.Row", row)


def _list(store: Store, kind: str, route: str, params: Params, condition: Condition) -> Answer:
    limit, cursor = parse_paging(params)
    scope = scope_of(route, filter_params(params))
    # The row id breaks ties, so the order is total and no page repeats or skips an item.
    where, values = condition
    if cursor is not None:
        where += f" AND (created_at, {kind}) < (?, ?)"
        values = [*values, *decode_cursor(cursor, scope, (int, int))]
    select, summary = (_TRACES, trace_summary) if kind == "trace" else (_EPISODES, episode_summary)
    query = f"{select} WHERE {where} ORDER BY created_at DESC, {kind} DESC LIMIT ?"
    with store.index.connect() as connection:
        rows = connection.execute(query, (*values, limit + 1)).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    next_cursor = None if last is None else encode_cursor(scope, (last["created_at"], last[kind]))
    return page([summary(row) for row in rows[:limit]], next_cursor)
