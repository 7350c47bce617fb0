"""Many batches at once, through both clients: how many, in which order, and how it ends."""

import asyncio
import contextlib
import gc
import hashlib
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import uploader
from tests.uploader.faces import EACH, Face, both, lines
from tests.uploader.gates import Gate, Meeting, SourceError, afailing_source, failing_source, open_all, opening
from uploader.sealing import SealedBatch
from uploader.testing import Recorded, ScriptedTransport, fake_time, refusal

DIGESTS = [hashlib.sha256(line).hexdigest() for line in lines(100)]


@both
@pytest.mark.parametrize("count", [3, 8])
def test_so_many_requests_are_provably_in_flight_at_once(face: Face, count: int) -> None:
    meeting = Meeting(face, count)
    transport = ScriptedTransport([meeting] * (4 * count))
    receipts = face.call(transport, "upload_lines", lines(4 * count), max_in_flight=count, **EACH)
    assert [receipt.upload_id for receipt in receipts] == DIGESTS[: 4 * count]
    assert meeting.most == count


@both
def test_receipts_and_reports_are_in_batch_order(face: Face) -> None:
    first = Gate(face)
    threads: set[int] = set()
    reported: list[str] = []

    def on_batch(batch: uploader.Batch, receipt: uploader.UploadReceipt) -> None:
        assert batch.digest == receipt.upload_id
        threads.add(threading.get_ident())
        reported.append(batch.digest)

    transport = ScriptedTransport([first, 201, 201, opening(first)])
    receipts = face.call(transport, "upload_lines", lines(10), on_batch=on_batch, max_in_flight=2, **EACH)
    assert [receipt.upload_id for receipt in receipts] == reported == DIGESTS[:10]
    assert threads == {threading.get_ident()}


def test_the_async_clients_hook_may_be_a_coroutine_function() -> None:
    reported: list[str] = []

    async def on_batch(batch: uploader.Batch, receipt: uploader.UploadReceipt) -> None:
        await asyncio.sleep(0)
        reported.append(batch.digest)

    face = Face("async")
    transport = ScriptedTransport([503])
    with fake_time():
        face.call(transport, "upload_lines", lines(3), on_batch=on_batch, on_retry=on_retry, **EACH)
    assert reported == DIGESTS[:3]


async def on_retry(_: uploader.Sleep) -> None:
    await asyncio.sleep(0)


@both
def test_a_failure_stops_new_requests_and_the_rest_is_reported(face: Face) -> None:
    """Batch 2 fails while 1 and 3 are in flight; both end, and both are reported; nothing else starts."""
    one, three = Gate(face), Gate(face)
    reported: list[str] = []

    def failing(_: Recorded) -> Any:
        threading.Timer(0.05, open_all, [[one, three]]).start()
        return refusal(400, "invalid_trace")

    def script(request: Recorded) -> Any:
        match DIGESTS.index(request.digest):
            case 0:
                return one
            case 1:
                return three_reached
            case 2:
                return three
        raise AssertionError("a request was started after the failure")

    def three_reached(request: Recorded) -> Any:
        return _after(face, three.reached, lambda: failing(request))

    with pytest.raises(uploader.ValidationRejectedError) as caught:
        face.call(
            ScriptedTransport([script] * 10),
            "upload_lines",
            lines(10),
            on_batch=lambda batch, _: reported.append(batch.digest),
            max_in_flight=3,
            **EACH,
        )
    assert reported == [DIGESTS[0], DIGESTS[2]]
    assert [receipt.upload_id for receipt in caught.value.receipts] == reported
    assert caught.value.batch is not None
    assert caught.value.batch.digest == DIGESTS[1]


def _after(face: Face, event: threading.Event, answer: Callable[[], Any]) -> Any:
    if not face.is_async:
        assert event.wait(30)
        return answer()

    async def wait() -> Any:
        while not event.is_set():
            await asyncio.sleep(0.001)
        return answer()

    return wait()


@both
def test_a_failure_also_ends_what_waits_to_be_repeated(face: Face) -> None:
    """Without a fake clock: the back-off of batch 1 lasts a minute, unless the failure of batch 2 ends it."""
    told = threading.Event()
    busy = refusal(503, "storage_unavailable", headers={"Retry-After": "60"})

    def script(request: Recorded) -> Any:
        if request.digest == DIGESTS[0]:
            return busy
        return _after(face, told, lambda: refusal(401, "unauthenticated"))

    with pytest.raises(uploader.UnauthorizedError):
        face.call(
            transport := ScriptedTransport([script] * 9),
            "upload_lines",
            lines(2),
            on_retry=lambda _: told.set(),
            **EACH,
        )
    assert len(transport.requests) == 2


@pytest.mark.parametrize(
    ("face", "source"),
    [(Face("sync"), failing_source), (Face("async"), failing_source), (Face("async"), afailing_source)],
)
def test_a_source_that_fails(face: Face, source: Any) -> None:
    reported: list[str] = []
    error = SourceError("gone")
    with pytest.raises(SourceError) as caught:
        face.call(
            ScriptedTransport(),
            "upload_lines",
            source(5, error),
            on_batch=lambda batch, _: reported.append(batch.digest),
            **EACH,
        )
    assert caught.value is error
    assert reported == DIGESTS[:4]  # the last one was still open


@both
def test_an_async_source(face: Face) -> None:
    async def source() -> Any:
        for line in lines(20):
            await asyncio.sleep(0)
            yield line

    if not face.is_async:
        with pytest.raises(uploader.ConfigurationError):
            face.call(ScriptedTransport(), "upload_lines", source())
        return
    receipts = face.call(ScriptedTransport(), "upload_lines", source(), **EACH)
    assert [receipt.upload_id for receipt in receipts] == DIGESTS[:20]


@both
def test_a_hook_that_fails_stops_the_upload(face: Face) -> None:
    reported: list[str] = []

    def on_batch(batch: uploader.Batch, _: uploader.UploadReceipt) -> None:
        reported.append(batch.digest)
        if len(reported) == 2:
            raise SourceError("full")

    transport = ScriptedTransport()
    with pytest.raises(SourceError):
        face.call(transport, "upload_lines", lines(100), on_batch=on_batch, max_in_flight=1, **EACH)
    sent = len(transport.requests)
    assert sent < 6
    assert reported == DIGESTS[:sent]  # each once, also those that ended after it


@both
def test_a_hook_that_always_fails_raises_its_first_error(face: Face) -> None:
    errors: list[Exception] = []

    def on_batch(*_: Any) -> None:
        errors.append(SourceError(len(errors)))
        raise errors[-1]

    with pytest.raises(SourceError) as caught:
        face.call(ScriptedTransport(), "upload_lines", lines(10), on_batch=on_batch, **EACH)
    assert caught.value is errors[0]
    assert len(errors) <= 2


@both
def test_an_unexpected_error_of_the_transport_comes_through(face: Face) -> None:
    with pytest.raises(ZeroDivisionError):
        face.call(ScriptedTransport([ZeroDivisionError()]), "upload_lines", lines(5), **EACH)


@both
def test_no_thread_is_left(face: Face) -> None:
    before = set(threading.enumerate())
    for script in ([], [401], [ZeroDivisionError()]):
        with contextlib.suppress(uploader.UnauthorizedError, ZeroDivisionError):
            face.call(ScriptedTransport(script), "upload_lines", lines(20), **EACH)
        names = [thread.name for thread in set(threading.enumerate()) - before]
        assert [name for name in names if "upload" in name or "seal" in name] == []


@both
def test_no_more_batches_are_alive_than_may_be_in_flight_and_one(face: Face, monkeypatch: Any) -> None:
    alive: set[int] = set()
    most = 0

    def sealed_batch(*args: Any, **kwargs: Any) -> Any:
        nonlocal most
        sealed = Tracked(*args, **kwargs)
        alive.add(id(sealed))
        most = max(most, len(alive))
        weakref.finalize(sealed, alive.discard, id(sealed))
        return sealed

    monkeypatch.setattr("uploader.sealing.SealedBatch", sealed_batch)
    with fake_time():
        transport = ScriptedTransport([503, 500, 201] * 20)
        face.call(transport, "upload_lines", lines(60), max_in_flight=3, max_attempts=100, **EACH)
    assert most <= 4
    assert alive == set()


class Tracked(SealedBatch):
    """A sealed batch that can be watched: the class itself has slots, and no weak references."""


@both
@pytest.mark.parametrize("script", [[201], [400], [413, 400]])
def test_nothing_of_a_batch_is_kept_by_an_error(face: Face, script: list[int], monkeypatch: Any) -> None:
    """Bodies are megabytes; they must go without waiting for a garbage collection."""
    references: list[weakref.ref[Any]] = []

    def sealed_batch(*args: Any, **kwargs: Any) -> Any:
        sealed = Tracked(*args, **kwargs)
        references.append(weakref.ref(sealed))
        return sealed

    monkeypatch.setattr("uploader.sealing.SealedBatch", sealed_batch)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(uploader.UploaderError):
            face.call(ScriptedTransport(script), "upload_lines", lines(4))
        assert references
        assert [ref() for ref in references if ref() is not None] == []
    finally:
        gc.enable()


async def test_uploads_of_one_client_may_run_side_by_side() -> None:
    transport = ScriptedTransport()
    async with uploader.AsyncTracesClient("key", "http://service.test", "", transport=transport) as client:
        async with asyncio.timeout(30):
            found = await asyncio.gather(*(client.upload_lines(lines(10), **EACH) for _ in range(5)))
    assert [[receipt.upload_id for receipt in receipts] for receipts in found] == [DIGESTS[:10]] * 5


async def test_the_event_loops_thread_neither_pulls_lines_nor_seals() -> None:
    threads: set[int] = set()

    def source() -> Any:
        for line in lines(5):
            threads.add(threading.get_ident())
            yield line

    async with uploader.AsyncTracesClient("key", "http://service.test", "", transport=ScriptedTransport()) as client:
        await client.upload_lines(source(), **EACH)
    assert threads
    assert threading.get_ident() not in threads


class Chunks(httpx.AsyncBaseTransport):
    """Notes how a body arrives."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        self.sizes = [len(chunk) async for chunk in request.stream]
        return httpx.Response(
            201,
            json={"upload_id": request.headers["idempotency-key"].removeprefix("sha256:"), "status": "committed"},
        )


@pytest.mark.parametrize("compress", [True, False])
async def test_large_bodies_are_streamed_in_small_chunks(compress: bool) -> None:
    transport = Chunks()
    async with uploader.AsyncTracesClient("key", "http://service.test", "", transport=transport) as client:
        await client.upload_lines([os.urandom(3_000_000).replace(b"\n", b"x")], compress=compress)
    assert sum(transport.sizes) > 2_900_000
    assert max(transport.sizes) <= 256 * 1024
