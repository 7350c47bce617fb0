"""One upload's body, from bytes on disk to a verdict: every line checked, stored and indexed, or none.

Runs on a worker thread. At most one line is in memory; everything else goes through in pieces.
"""

import hashlib
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import msgspec

from uploader.receiver.blocks import BlockWriter, pack_offsets
from uploader.receiver.documents import decode_errors, decode_trace
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.gunzip import PIECE_BYTES, iter_inflated
from uploader.receiver.index import Staging, UploadRow
from uploader.receiver.json_text import check_utf8
from uploader.receiver.lines import Line, LineSplitter, check_upload_size
from uploader.receiver.members import decode_episode, locate_members
from uploader.receiver.metadata import LineFormat, Metadata
from uploader.receiver.settings import ReceiverSettings
from uploader.receiver.store import Store, sync_file
from uploader.receiver.summaries import TraceRow, episode_row, trace_row

_log: Final = logging.getLogger(__name__)
_READ_BYTES: Final = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Upload:
    """What the request says of its body.

    Attributes:
        digest: SHA-256 of the uncompressed bytes, as 64 hex digits; the upload's id.
        line_format: what every line must be.
        metadata: the metadata part.
        is_gzip: whether the body is compressed.
    """

    digest: str
    line_format: LineFormat
    metadata: Metadata
    is_gzip: bool


def settle(upload: Upload, body: BinaryIO, store: Store, settings: ReceiverSettings) -> None:
    """Check a received body and store it; returns only when it is stored for good.

    Args:
        upload: what the request says.
        body: the bytes of the traces part, from its current position.
        store: where it goes.
        settings: the limits.

    Raises:
        RequestRefusedError: with the contract's code; nothing was stored.
        OSError: the disk failed or is full.
        sqlite3.Error: likewise.
    """
    pieces = _iter_pieces(body, upload.is_gzip)
    stored_format = store.index.line_format(upload.digest)
    if stored_format is None:
        stored_format = _store(upload, pieces, store, settings)
    else:
        # A receipt says that these bytes are stored, so it is given for no others.
        _check_digest(upload, _digest(pieces, settings.max_request_bytes))
    if stored_format != upload.line_format:
        raise RequestRefusedError(
            "line_format_conflict",
            f"These bytes are stored with {stored_format} lines; the digest does not cover the format.",
        )


def _store(upload: Upload, pieces: Iterator[bytes], store: Store, settings: ReceiverSettings) -> str:
    hasher = hashlib.sha256()
    splitter = LineSplitter(
        max_bytes=settings.max_request_bytes,
        max_line_bytes=settings.max_line_bytes,
        max_lines=settings.max_lines,
    )
    with store.incoming_file() as file, store.index.staging() as staging:
        check = _LineCheck(upload, staging, settings)
        writer = BlockWriter(file)
        for piece in pieces:
            hasher.update(piece)
            writer.write(piece)
            for line in splitter.feed(piece):
                check(line)
        for line in splitter.finish():
            check(line)
        _check_digest(upload, hasher.hexdigest())
        if not check.records:
            raise RequestRefusedError("invalid_trace", "The upload holds no line.")
        writer.finish()
        sync_file(file)
        row = UploadRow(
            upload_id=upload.digest,
            line_format=upload.line_format,
            schema_version=upload.metadata.schema_version,
            context=msgspec.json.encode(upload.metadata.context).decode(),
            ingested_at=time.time_ns() // 1000,
            size=splitter.size,
            lines=splitter.lines,
            block_offsets=pack_offsets(writer.offsets),
        )
        stored_format = staging.commit(row, lambda: store.publish(file, upload.digest))
        _log.info("stored upload %s: %d lines, %d bytes", upload.digest, check.records, splitter.size)
        return stored_format


class _LineCheck:
    """Checks the lines one by one and stages their rows.

    Attributes:
        records: how many lines were checked.
    """

    def __init__(self, upload: Upload, staging: Staging, settings: ReceiverSettings) -> None:
        self._staging = staging
        self._settings = settings
        self._check = self._episode if upload.line_format == "episode" else self._trace
        self.records = 0

    def __call__(self, line: Line) -> None:
        where = f"Line {line.number}"
        check_utf8(line.data, where)
        self._check(line, where)
        self.records += 1

    def _trace(self, line: Line, where: str) -> None:
        record = decode_trace(line.data, where)
        self._add_trace(trace_row(record, None, line.offset, len(line.data)), where)

    def _episode(self, line: Line, where: str) -> None:
        record, members = decode_episode(line.data, where, self._settings.max_traces_per_episode)
        self._check_id(record.id, "episode_id_too_long", "episode id", where)
        traces = [decode_trace(data, f"{where}, trace {number}") for number, data in enumerate(members)]
        rows = [
            trace_row(trace, record, line.offset + start, size)
            for trace, (start, size) in zip(traces, locate_members(line.data, members), strict=True)
        ]
        row = episode_row(record, decode_errors(record.errors, where), rows, line.offset, len(line.data))
        if row.environment_id is not None:
            self._check_id(row.environment_id, "environment_id_too_long", "environment id", where)
        self._staging.add_episode(row, where)
        for member in rows:
            self._add_trace(member, where)

    def _add_trace(self, row: TraceRow, where: str) -> None:
        self._check_id(row.trace_id, "invalid_trace", "trace id", where)
        if row.environment_id is not None:
            self._check_id(row.environment_id, "environment_id_too_long", "environment id", where)
        if row.run_id is not None:
            self._check_id(row.run_id, "invalid_trace", "run id", where)
        self._staging.add_trace(row, where)

    def _check_id(self, value: str, code: str, name: str, where: str) -> None:
        if not value:
            raise RequestRefusedError("invalid_trace", f"{where}: the {name} is empty.")
        size = len(value.encode())
        if size > self._settings.max_id_bytes:
            raise RequestRefusedError(
                code, f"{where}: the {name} has {size} bytes; {self._settings.max_id_bytes} are allowed."
            )


def _iter_pieces(body: BinaryIO, is_gzip: bool) -> Iterator[bytes]:
    if is_gzip:
        return iter_inflated(iter(lambda: body.read(_READ_BYTES), b""))
    return iter(lambda: body.read(PIECE_BYTES), b"")


def _digest(pieces: Iterator[bytes], max_bytes: int) -> str:
    hasher = hashlib.sha256()
    size = 0
    for piece in pieces:
        size += len(piece)
        check_upload_size(size, max_bytes)
        hasher.update(piece)
    return hasher.hexdigest()


def _check_digest(upload: Upload, digest: str) -> None:
    if digest != upload.digest:
        raise RequestRefusedError(
            "digest_mismatch",
            f"The uncompressed bytes have SHA-256 {digest}, Idempotency-Key says {upload.digest}.",
        )
