"""The JSON values of the contract's answers, made from rows of the index."""

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Answer = dict[str, Any]


def rfc3339(microseconds: int) -> str:
    """A time of the index as the contract writes it, in UTC."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def trace_summary(row: sqlite3.Row) -> Answer:
    """A trace, from its row joined with its upload's."""
    return {
        "trace_id": row["trace_id"],
        "upload_id": row["upload_id"],
        "episode_id": row["episode_id"],
        "created_at": rfc3339(row["created_at"]),
        "ingested_at": rfc3339(row["ingested_at"]),
        "run_id": row["run_id"],
        "environment_id": row["environment_id"],
        "model": {"provider": row["model_provider"], "id": row["model_id"]},
        "task_id": row["task_id"],
        "agent_name": row["agent_name"],
        "score": {"reward": row["reward"], "outcome": row["outcome"]},
        "execution": {"has_error": bool(row["has_error"]), "is_truncated": bool(row["is_truncated"])},
        "duration_ms": row["duration_ms"],
        "total_tokens": row["total_tokens"],
        "size_bytes": row["size"],
        "context": context_of(row),
    }


def episode_summary(row: sqlite3.Row) -> Answer:
    """An episode, from its row joined with its upload's."""
    return {
        "episode_id": row["episode_id"],
        "upload_id": row["upload_id"],
        "schema_version": row["schema_version"],
        "created_at": rfc3339(row["created_at"]),
        "ingested_at": rfc3339(row["ingested_at"]),
        "run_id": row["run_id"],
        "environment_id": row["environment_id"],
        "outcome": row["outcome"],
        "has_error": bool(row["has_error"]),
        "error": {"type": row["error_type"], "message": row["error_message"]},
    }


def run_summary(row: sqlite3.Row, environment_ids: list[str], model_ids: list[str], context: Answer) -> Answer:
    """A run, from the totals over its traces."""
    return {
        "run_id": row["run_id"],
        "first_trace_created_at": rfc3339(row["first_created_at"]),
        "last_trace_created_at": rfc3339(row["last_created_at"]),
        "last_trace_ingested_at": rfc3339(row["last_ingested_at"]),
        "trace_count": row["trace_count"],
        "episode_count": row["episode_count"],
        "avg_reward": row["avg_reward"],
        "step_min": row["step_min"],
        "step_max": row["step_max"],
        "step_count": row["step_count"],
        "has_error": bool(row["has_error"]),
        "first_user_id": None,
        "environment_ids": environment_ids,
        "model_ids": model_ids,
        "context": context,
    }


def context_of(row: sqlite3.Row) -> Answer:
    """The context of the upload that a row was joined with."""
    return msgspec.json.decode(row["context"], type=dict[str, Any])


def page(items: list[Answer], next_cursor: str | None) -> Answer:
    """One page of a list."""
    return {"items": items, "next_cursor": next_cursor}
