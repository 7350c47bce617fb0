"""The data directory: what a crash at any point leaves, and what a failing disk is answered with."""

import hashlib
import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.uploader.receiver.support import jsonl, trace
from uploader.receiver import DataDirInUseError, ReceiverSettings
from uploader.receiver.metadata import Metadata
from uploader.receiver.queries import read_raw
from uploader.receiver.store import Store
from uploader.receiver.verdict import Upload, settle


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.close()


def put(store: Store, tmp_path: Path, name: str) -> str:
    data = jsonl(trace(name))
    digest = hashlib.sha256(data).hexdigest()
    upload = Upload(digest=digest, line_format="trace", metadata=Metadata(1), is_gzip=False)
    settle(upload, io.BytesIO(data), store, ReceiverSettings(data_dir=tmp_path))
    return digest


def files(tmp_path: Path) -> set[str]:
    return {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} - {"lock"}


def test_a_crash_before_the_commit_leaves_nothing(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = put(store, tmp_path, "kept")
    publish = Store.publish

    def crash(self: Store, file: BinaryIO, upload_id: str) -> None:
        publish(self, file, upload_id)
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "publish", crash)
    with pytest.raises(KeyboardInterrupt):
        put(store, tmp_path, "lost")
    monkeypatch.undo()
    assert len(list(tmp_path.glob("lines/*/*.gz"))) == 2
    (tmp_path / "incoming" / "half a body").write_bytes(b"half")
    store.close()

    again = Store(tmp_path)
    try:
        assert files(tmp_path) - {"index.sqlite-wal", "index.sqlite-shm"} == {
            "index.sqlite",
            f"lines/{kept[:2]}/{kept}.gz",
        }
        # The same bytes are taken as if nothing had happened.
        lost = put(again, tmp_path, "lost")
        assert b"".join(read_raw(again, "trace", "lost").pieces) == jsonl(trace("lost"))[:-1]
        assert again.index.line_format(lost) == "trace"
    finally:
        again.close()


def test_a_failing_commit_shows_nothing(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uploader.receiver.schema.PUBLISH", ("INSERT INTO nowhere VALUES (1)",))
    with pytest.raises(sqlite3.OperationalError):
        put(store, tmp_path, "lost")
    monkeypatch.undo()
    put(store, tmp_path, "lost")
    assert b"".join(read_raw(store, "trace", "lost").pieces) == jsonl(trace("lost"))[:-1]


def test_the_directory_has_one_owner(tmp_path: Path, store: Store) -> None:
    with pytest.raises(DataDirInUseError, match="served by another receiver"):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()
