import os
import threading
from pathlib import Path

import pytest

from tests.uploader.delivery.support import lines, sealed
from tests.uploader.sinks.scripted import scripted_store
from tests.uploader.sinks.support import FOLDER, RUN, send
from tests.uploader.stores import S3, running_s3, use_credentials
from uploader.errors import StoreError, StoreRefusedError
from uploader.models import LineFormat
from uploader.pulling.sources import BatchSource, StoredBatch, open_source
from uploader.sinks.files import FileSink
from uploader.sinks.layout import StoredName
from uploader.sinks.places import parse_place
from uploader.sinks.store import ObjectStoreSink
from uploader.testing import fake_time

BATCHES = [sealed(lines(2, 10 * number)) for number in range(3)]
NOWHERE = StoredBatch(f"{FOLDER}/episode/{'0' * 64}.jsonl.gz", StoredName("0" * 64), LineFormat.EPISODE, 1, 0.0)


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    use_credentials(monkeypatch)


def source(address: str | Path) -> BatchSource:
    return open_source(parse_place("url", address), threading.Event())


def check(address: str | Path) -> None:
    found = source(address).list(RUN)
    assert {each.name.digest for each in found} == {each.batch.digest for each in BATCHES}
    assert [each.line_format for each in found].count(LineFormat.TRACE) == 1
    by_digest = {batch.batch.digest: b"".join(batch.pieces) for batch in BATCHES}
    for each in found:
        assert source(address).read(each) == by_digest[each.name.digest]
        assert each.size == len(by_digest[each.name.digest])
        assert each.path.startswith(f"{FOLDER}/{each.line_format}/")
    assert [each.stored_at for each in found] == sorted(each.stored_at for each in found)
    assert source(address).list("Run") == source(address).list("another") == []
    with pytest.raises(StoreError) as caught:
        source(address).read(NOWHERE)
    assert caught.value.status_code == 404


def test_a_folder_and_whatever_else_is_in_it(tmp_path: Path) -> None:
    sink = FileSink(tmp_path)
    send(sink, BATCHES[:2])
    send(sink, BATCHES[2:], LineFormat.TRACE)
    send(sink, [sealed(lines(1))], run_id=f"{RUN}/more")
    for name in (".0.part", "notes.txt", f"{'0' * 64}.jsonl.gz.tmp"):
        (tmp_path / FOLDER / "episode" / name).write_text("")
    (tmp_path / FOLDER / "episode" / f"{'f' * 64}.jsonl.gz").mkdir()
    check(tmp_path)
    check(tmp_path.as_uri())
    first, second = source(tmp_path).list(RUN)[:2]
    os.utime(tmp_path / first.path, (2e9, 2e9))
    assert source(tmp_path).list(RUN)[-1].path == first.path != second.path
    assert source(tmp_path / "not there").list(RUN) == []


def test_an_object_store() -> None:
    with running_s3() as s3:
        address = s3.address(s3.new_bucket(), "a/b c")
        sink = ObjectStoreSink(address)
        send(sink, BATCHES[:2])
        send(sink, BATCHES[2:], LineFormat.TRACE)
        send(sink, [sealed(lines(1))], run_id=f"{RUN}/more")
        check(address)
        with pytest.raises(StoreError) as caught:
            source(S3(s3.url).address("no-such-bucket")).list(RUN)
        assert (caught.value.status_code, "NoSuchBucket" in str(caught.value)) == (404, True)


def test_reading_goes_on_after_failures_but_not_for_ever() -> None:
    with scripted_store() as scripted, fake_time() as clock:
        scripted.answers += [(403, "")]
        with pytest.raises(StoreRefusedError):
            source(scripted.address("s3")).read(NOWHERE)
        assert (len(scripted.requests), clock.sleeps) == (1, [])
        scripted.answers += [(400, "<Code>RequestTimeout</Code>")] * 3
        assert source(scripted.address("s3")).read(NOWHERE) == b""
        assert len(clock.sleeps) == 3
        scripted.answers += [(400, "<Code>RequestTimeout</Code>")] * 10
        with pytest.raises(StoreError, match="RequestTimeout"):
            source(scripted.address("s3")).read(NOWHERE)
        assert len(scripted.requests) == 1 + 4 + 5
