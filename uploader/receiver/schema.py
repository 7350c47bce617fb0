"""The index's tables. Times are microseconds since the epoch; offsets count uncompressed bytes of the upload.

A trace or episode id has one row: that of its newest upload. `upload` grows with each commit, and so do row
ids.
"""

from typing import Final

from uploader.receiver.summaries import EpisodeRow, TraceRow

TABLES: Final = """
CREATE TABLE IF NOT EXISTS uploads (
    upload INTEGER PRIMARY KEY,
    upload_id TEXT NOT NULL UNIQUE,
    line_format TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    context TEXT NOT NULL,
    ingested_at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    block_offsets BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS episodes (
    episode INTEGER PRIMARY KEY,
    upload INTEGER NOT NULL REFERENCES uploads,
    episode_id TEXT NOT NULL UNIQUE,
    offset INTEGER NOT NULL,
    size INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_id TEXT,
    environment_id TEXT,
    outcome TEXT,
    has_error INTEGER NOT NULL,
    error_type TEXT,
    error_message TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS traces (
    trace INTEGER PRIMARY KEY,
    upload INTEGER NOT NULL REFERENCES uploads,
    trace_id TEXT NOT NULL UNIQUE,
    episode_id TEXT,
    offset INTEGER NOT NULL,
    size INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_id TEXT,
    step INTEGER,
    environment_id TEXT,
    model_provider TEXT,
    model_id TEXT,
    task_id TEXT,
    agent_name TEXT,
    reward REAL,
    outcome TEXT,
    has_error INTEGER NOT NULL,
    is_truncated INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS registered_runs (
    run_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    metrics TEXT NOT NULL,
    status TEXT NOT NULL,
    error_message TEXT,
    created_at INTEGER NOT NULL,
    closed_at INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS run_metrics (
    run_id TEXT NOT NULL REFERENCES registered_runs,
    row_key TEXT NOT NULL,
    step INTEGER,
    metrics TEXT NOT NULL,
    ingested_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, row_key)
) STRICT;
CREATE INDEX IF NOT EXISTS traces_by_time ON traces (created_at, trace);
CREATE INDEX IF NOT EXISTS traces_by_run ON traces (run_id, step);
CREATE INDEX IF NOT EXISTS traces_by_episode ON traces (episode_id);
CREATE INDEX IF NOT EXISTS traces_by_upload ON traces (upload);
CREATE INDEX IF NOT EXISTS episodes_by_time ON episodes (created_at, episode);
CREATE INDEX IF NOT EXISTS episodes_by_upload ON episodes (upload);
"""

_TRACE_COLUMNS: Final = ", ".join(TraceRow._fields)
_EPISODE_COLUMNS: Final = ", ".join(EpisodeRow._fields)

#: The rows of one upload, gathered where only its own connection sees them; SQLite spills them to disk when
#: many.
STAGING: Final = f"""
CREATE TEMP TABLE staged_traces ({_TRACE_COLUMNS}, UNIQUE (trace_id));
CREATE TEMP TABLE staged_episodes ({_EPISODE_COLUMNS}, UNIQUE (episode_id));
"""


def _stage(table: str, columns: int) -> str:
    return f"INSERT INTO temp.staged_{table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - our own names


STAGE_TRACE: Final = _stage("traces", len(TraceRow._fields))
STAGE_EPISODE: Final = _stage("episodes", len(EpisodeRow._fields))

INSERT_UPLOAD: Final = """
INSERT INTO uploads (upload_id, line_format, schema_version, context, ingested_at, size, lines, block_offsets)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def _publish(table: str, columns: str) -> str:
    # The newest upload of an id wins: REPLACE drops the older row. What has no time of its own was created
    # when it came.
    staged = columns.replace("created_at", "coalesce(created_at, :ingested_at)")
    return (
        f"INSERT OR REPLACE INTO {table} (upload, {columns}) "  # noqa: S608 - names from this module alone
        f"SELECT :upload, {staged} FROM temp.staged_{table} ORDER BY rowid"
    )


#: Run in this order within one transaction. The members of an episode that comes again go with its older
#: line.
PUBLISH: Final = (
    "DELETE FROM traces WHERE episode_id IN (SELECT episode_id FROM temp.staged_episodes)",
    _publish("episodes", _EPISODE_COLUMNS),
    _publish("traces", _TRACE_COLUMNS),
)
