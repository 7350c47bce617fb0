import asyncio
import os
import threading
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.uploader.delivery.support import lines, sealed
from tests.uploader.sinks.scripted import ScriptedStore, scripted_store
from tests.uploader.sinks.support import FOLDER, RUN, send
from tests.uploader.stores import CREDENTIALS, S3, running_s3
from uploader.delivery.verdicts import Verdict, verdict_on
from uploader.errors import ConfigurationError, StoreBusyError, StoreError, StoreRefusedError, UploaderError
from uploader.models import Batch, LineFormat
from uploader.sealing import SealedBatch, Sealer
from uploader.sinks import store
from uploader.sinks.base import SinkBatch
from uploader.sinks.store import ObjectStoreSink
from uploader.spool.batches import Destination

BATCH = sealed(lines(3))
MIB = 2**20


def failure(sink: ObjectStoreSink, batch: SealedBatch = BATCH) -> UploaderError:
    with pytest.raises(UploaderError) as caught:
        send(sink, [batch])
    return caught.value


def test_a_batch_is_an_object_named_by_its_lines(s3: S3) -> None:
    bucket = s3.new_bucket()
    batches = [BATCH, sealed(lines(3, 10))]
    receipts = send(ObjectStoreSink(s3.address(bucket, "a/b c")), [*batches, BATCH])  # the same again changes nothing
    assert [receipt.upload_id for receipt in receipts] == [each.batch.digest for each in (*batches, BATCH)]
    assert {receipt.status for receipt in receipts} == {"committed"}
    paths = [f"a/b c/{FOLDER}/episode/{each.batch.digest}.jsonl.gz" for each in batches]
    assert s3.objects(bucket) == {path: b"".join(each.pieces) for path, each in zip(paths, batches, strict=True)}
    assert s3.facts(bucket, paths[0])[0] == "application/gzip"


def test_kinds_are_apart_and_plain_lines_are_named_so(s3: S3) -> None:
    bucket = s3.new_bucket()
    sealer = Sealer(compress=False)
    sealer.add([b"{}\n"], 3, 1)
    plain = sealer.seal()
    send(ObjectStoreSink(s3.address(bucket)), [plain], LineFormat.TRACE)
    path = f"{FOLDER}/trace/{plain.batch.digest}.jsonl"
    assert s3.objects(bucket) == {path: b"{}\n"}
    assert s3.facts(bucket, path)[0] == "application/x-ndjson"


def test_a_large_batch_is_sent_in_parts(s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MULTIPART_BYTES", 5 * MIB)
    monkeypatch.setattr(store, "PART_BYTES", 5 * MIB)  # the least that S3 takes, but for the last
    bucket = s3.new_bucket()
    pieces = tuple(os.urandom(256 * 1024) for _ in range(44))
    batch = SealedBatch(Batch("0" * 64, 1, 1, 11 * MIB), pieces, "gzip")
    send(ObjectStoreSink(s3.address(bucket)), [BATCH, batch])
    stored = {path.rpartition("/")[2][:64]: path for path in s3.objects(bucket)}
    assert s3.objects(bucket)[stored["0" * 64]] == b"".join(pieces)
    tags = [s3.facts(bucket, stored[digest])[1] for digest in (BATCH.batch.digest, "0" * 64)]
    assert "-" not in tags[0]
    assert tags[1].strip('"').endswith("-3")


def test_its_place_is_known_without_the_environment_and_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "s3://bucket/a?endpoint=http://minio:9000"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000")
    sink = ObjectStoreSink("s3://bucket/a/")
    assert (sink.name, sink.destination) == (told, Destination(told, told))
    assert ObjectStoreSink("s3://bucket/a", name="store").destination == Destination("store", told)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    other = ObjectStoreSink("s3://bucket/a", config={**CREDENTIALS, "endpoint": "http://minio:9000"})
    assert other.destination == sink.destination
    assert ObjectStoreSink(told).destination == sink.destination
    assert not any(secret in repr(other.destination) for secret in ("key", "secret"))
    with pytest.raises(ConfigurationError, match="TracesSink"):
        ObjectStoreSink("https://host")


def test_a_folder_through_obstore(tmp_path: Path) -> None:
    sink = ObjectStoreSink((tmp_path / "out").as_uri())
    send(sink, [BATCH, BATCH])
    found = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {f"out/{FOLDER}/episode/{BATCH.batch.digest}.jsonl.gz": b"".join(BATCH.pieces)}
    (tmp_path / "out" / "Run").write_text("")
    (tmp_path / "out" / FOLDER / "trace").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        send(sink, [BATCH], LineFormat.TRACE)
    assert verdict_on(caught.value) is Verdict.AGAIN


def test_credentials_that_s3_refuses_stop_it() -> None:
    with running_s3(INITIAL_NO_AUTH_ACTION_COUNT="1") as strict:
        bucket = strict.new_bucket()
        error = failure(ObjectStoreSink(strict.address(bucket)))
    assert isinstance(error, StoreRefusedError)
    assert error.status_code == 403
    assert "InvalidAccessKeyId" in str(error)
    assert verdict_on(error) is Verdict.STOP


def test_a_bucket_that_is_not_there_may_come(s3: S3) -> None:
    error = failure(ObjectStoreSink(s3.address("no-such-bucket")))
    assert "NoSuchBucket" in str(error)
    assert verdict_on(error) is Verdict.AGAIN


def test_a_store_that_is_not_there() -> None:
    error = failure(ObjectStoreSink("s3://bucket/a?endpoint=http://127.0.0.1:1"))
    assert isinstance(error, StoreError)
    assert error.status_code is None
    assert verdict_on(error) is Verdict.AGAIN


@pytest.mark.parametrize("kind", ["s3", "gs", "az"])
@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (503, Verdict.LATER),
        (429, Verdict.LATER),
        (500, Verdict.AGAIN),
        (404, Verdict.AGAIN),
        (301, Verdict.AGAIN),
        (400, Verdict.AGAIN),
        (401, Verdict.STOP),
        (403, Verdict.STOP),
        (413, Verdict.DIVIDE),
    ],
)
def test_what_each_kind_of_store_answers(kind: str, status: int, verdict: Verdict) -> None:
    """One attempt, then it is the queue's; the next one may do."""
    with scripted_store() as scripted:
        sink = ObjectStoreSink(scripted.address(kind), config=scripted.config(kind))
        scripted.answers.append((status, "<Error><Code>Words</Code></Error>"))
        error = failure(sink)
        assert verdict_on(error) is verdict
        assert (f"HTTP {status}" if status != 301 else "redirect") in str(error)
        assert len(scripted.requests) == 1
        send(sink, [BATCH])
        method, path = scripted.requests[-1]
        assert method == "PUT"
        assert unquote(path).endswith(f"prefix/{FOLDER}/episode/{BATCH.batch.digest}.jsonl.gz")
        assert scripted.bodies[-1] == b"".join(BATCH.pieces)


def test_parts_that_fail_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MULTIPART_BYTES", 10)
    with scripted_store() as scripted:
        scripted.part_answers.append((503, "<Code>SlowDown</Code>"))
        assert isinstance(failure(ObjectStoreSink(scripted.address("s3"))), StoreBusyError)
        assert [method for method, _ in scripted.requests] == ["POST", "PUT", "DELETE"]
        assert "uploadId=number-1" in scripted.requests[-1][1]


def test_a_store_that_never_answers_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_PATIENCE_S", 0.2)
    with scripted_store() as scripted:
        scripted.answers.append(None)
        error = failure(ObjectStoreSink(scripted.address("s3")))
    assert "no whole answer within" in str(error)
    assert verdict_on(error) is Verdict.AGAIN


def test_cancelling_ends_the_request() -> None:
    async def go(scripted: ScriptedStore) -> None:
        sink = ObjectStoreSink(scripted.address("s3"))
        await sink.start(RUN)
        task = asyncio.create_task(sink.send(SinkBatch(RUN, LineFormat.EPISODE, BATCH)))
        await asyncio.to_thread(scripted.arrived.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await sink.close()

    with scripted_store() as scripted:
        scripted.answers.append(None)
        asyncio.run(go(scripted))


def test_a_second_loop_may_use_it(s3: S3) -> None:
    bucket = s3.new_bucket()
    sink = ObjectStoreSink(s3.address(bucket))
    send(sink, [BATCH])
    thread = threading.Thread(target=send, args=(sink, [sealed(lines(1, 50))]))
    thread.start()
    thread.join()
    assert len(s3.objects(bucket)) == 2
