"""Reading runs: totals over their traces, computed when asked; a run has no row of its own."""

import sqlite3
from typing import Final

from uploader.receiver.answers import Answer, context_of, page, run_summary
from uploader.receiver.cursors import decode_cursor, encode_cursor, scope_of
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.filters import (
    RUN_FILTERS,
    Condition,
    Params,
    filter_params,
    parse_condition,
    parse_paging,
)
from uploader.receiver.store import Store

_TOTALS: Final = """
SELECT run_id, min(created_at) AS first_created_at, max(created_at) AS last_created_at,
    max(ingested_at) AS last_ingested_at, count(*) AS trace_count,
    count(DISTINCT episode_id) AS episode_count, avg(reward) AS avg_reward, min(step) AS step_min,
    max(step) AS step_max, count(DISTINCT step) AS step_count, max(has_error) AS has_error
FROM traces JOIN uploads USING (upload)
"""
_STEPS: Final = """
SELECT step, count(*) AS trace_count, count(DISTINCT episode_id) AS episode_count, avg(reward) AS avg_reward
FROM traces WHERE run_id = ? AND step IS NOT NULL GROUP BY step ORDER BY step
"""
_NEWEST: Final = "SELECT * FROM traces JOIN uploads USING (upload) WHERE run_id = ? ORDER BY trace DESC LIMIT 1"


def list_runs(store: Store, params: Params) -> Answer:
    """A page of runs, most recently ingested first; the filters choose which traces are totalled."""
    selected = filter_params(params)
    condition = parse_condition(selected, RUN_FILTERS, context=False)
    limit, cursor = parse_paging(params)
    scope = scope_of("/runs", selected)
    having, values = "1", condition.values
    if cursor is not None:
        having = "(last_ingested_at, run_id) < (?, ?)"
        values = [*values, *decode_cursor(cursor, scope, (int, str))]
    query = (
        f"{_TOTALS} WHERE run_id IS NOT NULL AND {condition.sql} GROUP BY run_id HAVING {having}"
        " ORDER BY last_ingested_at DESC, run_id DESC LIMIT ?"
    )
    with store.index.connect() as connection:
        rows = connection.execute(query, (*values, limit + 1)).fetchall()
        items = [_summary(connection, row, condition) for row in rows[:limit]]
    last = rows[limit - 1] if len(rows) > limit else None
    next_cursor = None if last is None else encode_cursor(scope, (last["last_ingested_at"], last["run_id"]))
    return page(items, next_cursor)


def get_run(store: Store, run_id: str) -> Answer:
    """One run.

    Raises:
        RequestRefusedError: `run_not_found`, when no trace belongs to it.
    """
    with store.index.connect() as connection:
        row = connection.execute(f"{_TOTALS} WHERE run_id = ? GROUP BY run_id", (run_id,)).fetchone()
        if row is None:
            raise RequestRefusedError(
                "run_not_found", f"No trace of a run with the id {run_id[:256]!r} is stored here."
            )
        return _summary(connection, row, Condition("1", []))


def list_run_steps(store: Store, run_id: str) -> Answer:
    """A run's training steps, oldest first; none for an unknown run."""
    with store.index.connect() as connection:
        items = [dict(row) for row in connection.execute(_STEPS, (run_id,))]
    steps = [item["step"] for item in items]
    return {
        "step_min": min(steps, default=None),
        "step_max": max(steps, default=None),
        "step_count": len(steps),
        "items": items,
    }


def _summary(connection: sqlite3.Connection, row: sqlite3.Row, condition: Condition) -> Answer:
    run_id = row["run_id"]
    newest = connection.execute(_NEWEST, (run_id,)).fetchone()
    environments, models = (
        [found[0] for found in connection.execute(_distinct(column, condition), (run_id, *condition.values))]
        for column in ("environment_id", "model_id")
    )
    return run_summary(row, environments, models, context_of(newest))


def _distinct(column: str, condition: Condition) -> str:
    return (
        f"SELECT DISTINCT {column} FROM traces "  # noqa: S608 - names from this module alone
        f"WHERE run_id = ? AND {column} IS NOT NULL AND {condition.sql} ORDER BY {column}"
    )
