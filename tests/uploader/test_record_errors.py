"""Records that fail are set aside: everything else is uploaded, and nothing of it is lost."""

import gc
import pickle
import threading
import traceback
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import uploader
from encoder import EncodeError, from_messages
from tests.uploader.faces import Face, both
from uploader.batching import seal_records
from uploader.testing import ScriptedTransport

SMALL: dict[str, Any] = {"target_batch_bytes": 16, "compress": False}
"""Two records of 8 bytes a batch."""


class Broken:
    """Fails after its first piece."""

    def iter_json(self) -> Iterator[bytes]:
        yield b'{"half":'
        raise EncodeError("$.traces[0].nodes[3].message.content", "it holds a lone surrogate")


class Long:
    """More than a line may hold, without ever being in memory."""

    def iter_json(self) -> Iterator[bytes]:
        piece = b"1" * 1024 * 1024
        for _ in range(65):
            yield piece


def good(count: int) -> list[Any]:
    return [{"a": number} for number in range(count)]


def stored(transport: ScriptedTransport) -> bytes:
    """The lines of all requests, without their forms."""
    lines = [line for request in transport.requests for line in request.body.split(b"\n") if line.startswith(b'{"a":')]
    return b"\n".join(sorted(lines))


def each_of(records: list[Any]) -> bytes:
    return b"\n".join(b'{"a":%d}' % record["a"] for record in records)


@both
def test_one_failing_record_is_raised_once_all_others_are_stored(face: Face) -> None:
    transport = ScriptedTransport()
    records = good(5)
    with pytest.raises(uploader.RecordError) as caught:
        face.call(transport, "upload_records", [*records[:3], Broken(), *records[3:]], **SMALL)
    assert stored(transport) == each_of(records)
    error = caught.value
    assert (error.index, error.line_number) == (3, 4)
    assert {receipt.upload_id for receipt in error.receipts} == {request.digest for request in transport.requests}
    assert isinstance(error.__cause__, EncodeError)
    assert error.__cause__.path == "$.traces[0].nodes[3].message.content"
    assert "$.traces[0].nodes[3].message.content" in str(error)
    assert error.record_errors == ()


@both
def test_several_failing_records_are_all_named(face: Face) -> None:
    transport = ScriptedTransport()
    records = good(4)
    given = [Broken(), *records[:2], Long(), object(), *records[2:], Broken()]
    with pytest.raises(uploader.RecordsError) as caught:
        face.call(transport, "upload_records", given, **SMALL)
    assert stored(transport) == each_of(records)
    found = [(type(error), error.line_number) for error in caught.value.record_errors]
    assert found == [
        (uploader.RecordError, 1),
        (uploader.TraceTooLargeError, 4),
        (uploader.RecordError, 5),
        (uploader.RecordError, 8),
    ]
    assert len(caught.value.receipts) == 2
    for text in ("4 records", "record 1 (index 0)", "line 4", "record 5", "record 8"):
        assert text in str(caught.value)
    assert len(pickle.loads(pickle.dumps(caught.value)).record_errors) == 4


def test_an_error_of_many_records_names_the_first_few() -> None:
    error = uploader.RecordsError(tuple(uploader.RecordError(number, "bad") for number in range(1, 100)))
    assert str(error).endswith("record 10 (index 9): bad; and 89 more")
    assert len(error.record_errors) == 99


@both
def test_the_hook_is_told_on_the_calling_thread_and_nothing_is_raised(face: Face) -> None:
    told: list[tuple[int, int]] = []
    transport = ScriptedTransport()
    records = good(5)
    receipts = face.call(
        transport,
        "upload_records",
        [Broken(), *records, Long()],
        on_record_error=lambda error: told.append((error.line_number, threading.get_ident())),
        **SMALL,
    )
    assert stored(transport) == each_of(records)
    assert len(receipts) == len(transport.requests) == 3
    assert told == [(1, threading.get_ident()), (7, threading.get_ident())]


@both
def test_nothing_but_failing_records(face: Face) -> None:
    transport = ScriptedTransport()
    with pytest.raises(uploader.RecordError):
        face.call(transport, "upload_records", [Broken()])
    told: list[Any] = []
    assert face.call(transport, "upload_records", [Broken()] * 3, on_record_error=told.append) == []
    assert len(told) == 3
    assert transport.requests == []


async def test_the_async_clients_hook_may_wait_and_its_source_may_be_async() -> None:
    told: list[int] = []

    async def on_record_error(error: uploader.RecordError | uploader.TraceTooLargeError) -> None:
        told.append(error.line_number)

    async def source() -> AsyncIterator[Any]:
        for record in [{"a": 0}, Broken(), {"a": 1}, Broken()]:
            yield record

    transport = ScriptedTransport()
    async with uploader.AsyncTracesClient("key", "http://service.test", "", transport=transport) as client:
        await client.upload_records(source(), on_record_error=on_record_error, **SMALL)
    assert told == [2, 4]
    assert stored(transport) == each_of(good(2))


def test_the_sync_clients_hook_may_not_wait() -> None:
    async def on_record_error(_: Any) -> None: ...

    with pytest.raises(uploader.ConfigurationError, match="on_record_error"):
        Face("sync").call(ScriptedTransport(), "upload_records", [], on_record_error=on_record_error)


@both
def test_lines_have_no_such_hook(face: Face) -> None:
    with pytest.raises(TypeError, match="on_record_error"):
        face.call(ScriptedTransport(), "upload_lines", [], on_record_error=print)


@both
def test_a_refused_batch_comes_first_and_names_the_records_that_were_set_aside(face: Face) -> None:
    with pytest.raises(uploader.UnauthorizedError) as caught:
        face.call(ScriptedTransport([401]), "upload_records", [Broken(), *good(2)])
    assert [error.line_number for error in caught.value.record_errors] == [1]


class HookError(Exception):
    pass


@both
def test_a_hook_that_fails_stops_the_upload_and_is_called_no_more(face: Face) -> None:
    told: list[Any] = []

    def on_record_error(error: Any) -> None:
        told.append(error)
        raise HookError

    transport = ScriptedTransport()
    with pytest.raises(HookError):
        face.call(transport, "upload_records", [*good(2), Broken(), Broken()], on_record_error=on_record_error)
    assert len(told) == 1


@both
def test_a_source_that_fails_is_raised_after_the_failing_records_were_reported(face: Face) -> None:
    told: list[int] = []

    def source() -> Iterator[Any]:
        yield Broken()
        raise HookError

    with pytest.raises(HookError):
        face.call(
            ScriptedTransport(),
            "upload_records",
            source(),
            on_record_error=lambda error: told.append(error.line_number),
        )
    assert told == [1]


def test_an_error_keeps_nothing_of_its_record_alive() -> None:
    class Value:
        pass

    references: list[weakref.ref[Any]] = []

    class Failing:
        def iter_json(self) -> Iterator[bytes]:
            value = Value()
            references.append(weakref.ref(value))
            yield b"1"
            raise ValueError

    told: list[Any] = []
    gc.collect()
    gc.disable()
    try:
        assert list(seal_records([Failing()], on_error=told.append)) == []
        assert [reference() for reference in references] == [None]
    finally:
        gc.enable()
    (error,) = told
    assert error.__traceback__ is None
    assert not any(frame.f_locals for frame, _ in traceback.walk_tb(error.__cause__.__traceback__))


@both
def test_a_chat_with_a_lone_surrogate_fails_alone(face: Face) -> None:
    chats = [from_messages([{"role": "user", "content": text}]) for text in ("one", "tw\ud800o", "three")]
    with pytest.raises(uploader.RecordError) as caught:
        face.call(ScriptedTransport(), "upload_records", chats, line_format="episode")
    assert isinstance(caught.value.__cause__, EncodeError)
    assert caught.value.__cause__.path == "$.traces[0].nodes[0].message.content"
    assert caught.value.index == 1
    assert len(caught.value.receipts) == 1
