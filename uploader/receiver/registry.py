"""The runs that producers registered: what they said of them, their metrics and how they ended.

A run is open until it is closed, once; a training run's metrics have one row a step, so that a repeated request changes
nothing. Each function is one transaction, on the disk before it returns.
"""

import hashlib
import sqlite3
import time
import uuid
from typing import Any, Final, Literal

import msgspec

from uploader.receiver.answers import Answer, rfc3339
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.store import Store

RunKind = Literal["train", "eval"]

RUNNING: Final = "running"
COMPLETED: Final = "completed"

_INSERT: Final = """
INSERT INTO registered_runs (run_id, kind, name, spec, metrics, status, created_at) VALUES (?, ?, ?, ?, '{}', ?, ?)
"""
_CLOSE: Final = "UPDATE registered_runs SET status = ?, error_message = ?, closed_at = ? WHERE run_id = ?"
_ROW: Final = "INSERT OR REPLACE INTO run_metrics (run_id, row_key, step, metrics, ingested_at) VALUES (?, ?, ?, ?, ?)"
_ROWS: Final = "SELECT metrics FROM run_metrics WHERE run_id = ? ORDER BY step IS NULL, step, ingested_at, row_key"


def register(store: Store, kind: RunKind, name: str, spec: Answer) -> str:
    """Open a run, and return its id. A repeat opens another one."""
    run_id = uuid.uuid4().hex
    with store.index.transaction() as connection:
        connection.execute(_INSERT, (run_id, kind, name, _text(spec), RUNNING, _now()))
    return run_id


def add_metrics(store: Store, run_id: str, metrics: Answer) -> None:
    """Keep one row of a training run's metrics, in place of an earlier one of the same step.

    Raises:
        RequestRefusedError: `run_not_found` or `run_closed`.
    """
    text = _text(metrics)
    step = metrics.get("step")
    step = step if isinstance(step, int) and not isinstance(step, bool) and abs(step) < 2**63 else None
    key = hashlib.sha256(text.encode()).hexdigest() if step is None else f"step {step}"
    with store.index.transaction() as connection:
        _open_run(connection, run_id, "train")
        connection.execute(_ROW, (run_id, key, step, text, _now()))


def update(store: Store, run_id: str, changes: Answer) -> None:
    """Change what is known of an evaluation, open or closed: `metadata` whole, `metrics` name by name.

    Raises:
        RequestRefusedError: `run_not_found`.
    """
    with store.index.transaction() as connection:
        _update(connection, _run(connection, run_id, "eval"), changes)


def close(
    store: Store,
    run_id: str,
    kind: RunKind,
    status: str,
    *,
    error_message: str | None = None,
    changes: Answer | None = None,
    repeatable: bool = False,
) -> None:
    """Close a run.

    Args:
        store: where it is registered.
        run_id: its id.
        kind: what it must be.
        status: how it ended.
        error_message: why, where it failed.
        changes: as for `update`; nothing of it is kept where the run is closed already.
        repeatable: whether a run that ended so already is no error.

    Raises:
        RequestRefusedError: `run_not_found`, or `run_closed` when it had ended.
    """
    with store.index.transaction() as connection:
        row = _run(connection, run_id, kind)
        if repeatable and row["status"] == status:
            return
        _check_open(row)
        _update(connection, row, changes or {})
        connection.execute(_CLOSE, (status, error_message, _now(), run_id))


def read(store: Store, run_id: str, kind: RunKind) -> Answer:
    """All that is known of a run.

    Raises:
        RequestRefusedError: `run_not_found`.
    """
    with store.index.connect() as connection:
        row = _run(connection, run_id, kind)
        rows = [msgspec.json.decode(found[0]) for found in connection.execute(_ROWS, (run_id,))]
    return {
        **msgspec.json.decode(row["spec"]),
        "id": run_id,
        "name": row["name"],
        "status": row["status"],
        "error_message": row["error_message"],
        "created_at": rfc3339(row["created_at"]),
        "closed_at": None if row["closed_at"] is None else rfc3339(row["closed_at"]),
        "metrics": rows if kind == "train" else msgspec.json.decode(row["metrics"]),
    }


def _run(connection: sqlite3.Connection, run_id: str, kind: RunKind) -> sqlite3.Row:
    query = "SELECT * FROM registered_runs WHERE run_id = ? AND kind = ?"
    row: sqlite3.Row | None = connection.execute(query, (run_id, kind)).fetchone()
    if row is None:
        what = "training run" if kind == "train" else "evaluation"
        raise RequestRefusedError("run_not_found", f"No {what} with the id {run_id[:256]!r} was registered here.")
    return row


def _open_run(connection: sqlite3.Connection, run_id: str, kind: RunKind) -> None:
    _check_open(_run(connection, run_id, kind))


def _check_open(row: sqlite3.Row) -> None:
    if row["status"] != RUNNING:
        raise RequestRefusedError("run_closed", f"The run {row['run_id']} is already closed: it {row['status']}.")


def _update(connection: sqlite3.Connection, row: sqlite3.Row, changes: Answer) -> None:
    spec = msgspec.json.decode(row["spec"], type=dict[str, Any])
    metrics = msgspec.json.decode(row["metrics"], type=dict[str, Any])
    if "metadata" in changes:
        spec["metadata"] = changes["metadata"]
    metrics.update(changes.get("metrics") or {})
    query = "UPDATE registered_runs SET spec = ?, metrics = ? WHERE run_id = ?"
    connection.execute(query, (_text(spec), _text(metrics), row["run_id"]))


def _text(value: Answer) -> str:
    return msgspec.json.encode(value).decode()


def _now() -> int:
    return time.time_ns() // 1000
