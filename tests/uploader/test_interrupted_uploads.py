"""Interrupts and cancellations: what was under way ends, and what was stored is reported."""

import asyncio
import hashlib
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

import uploader
from tests.uploader.faces import EACH, Face, lines
from tests.uploader.gates import Gate, failing_source, open_all
from uploader.testing import ScriptedTransport

DIGESTS = [hashlib.sha256(line).hexdigest() for line in lines(100)]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to itself")
def test_an_interrupt_lets_requests_end_and_reports_them() -> None:
    """Ctrl-C while the calling thread waits: what is in flight ends, is reported, then the interrupt goes on."""
    face = Face("sync")
    gates = [Gate(face), Gate(face)]
    reported: list[str] = []

    def interrupt() -> None:
        for gate in gates:
            assert gate.reached.wait(30)
        os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.05, open_all, [gates]).start()

    helper = threading.Thread(target=interrupt)
    helper.start()
    transport = ScriptedTransport(gates)
    with pytest.raises(KeyboardInterrupt):
        face.call(
            transport,
            "upload_lines",
            lines(20),
            on_batch=lambda batch, _: reported.append(batch.digest),
            max_in_flight=2,
            **EACH,
        )
    helper.join()
    assert reported == DIGESTS[:2]
    assert len(transport.requests) == 2


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to itself")
def test_a_second_interrupt_is_obeyed_at_once() -> None:
    face = Face("sync")
    gate = Gate(face)

    def interrupt() -> None:
        assert gate.reached.wait(30)
        os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        face.call(ScriptedTransport([gate]), "upload_lines", lines(2), **EACH)
    helper.join()
    gate.open()


def test_an_interrupt_in_a_source_or_a_hook_lets_requests_end() -> None:
    face = Face("sync")
    reported: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        face.call(
            ScriptedTransport(),
            "upload_lines",
            failing_source(5, KeyboardInterrupt()),
            on_batch=lambda batch, _: reported.append(batch.digest),
            **EACH,
        )
    assert reported == DIGESTS[:4]


async def cancelled_upload(script: list[Any], source: Any, when: Callable[[], bool], **arguments: Any) -> Any:
    """Start an upload, cancel it once a condition holds, and return what was left of it."""
    before = asyncio.all_tasks()
    transport = ScriptedTransport(script)
    async with uploader.AsyncTracesClient("key", "http://service.test", "", transport=transport) as client:
        task = asyncio.create_task(client.upload_lines(source, **EACH, **arguments))
        while not when():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert asyncio.all_tasks() == before
    return transport


async def test_a_cancellation_ends_requests_and_reports_what_was_stored() -> None:
    gate = Gate(Face("async"))
    reported: list[str] = []
    await cancelled_upload(
        [201, gate],
        lines(50),
        gate.reached.is_set,
        max_in_flight=2,
        on_batch=lambda batch, _: reported.append(batch.digest),
    )
    assert reported[0] == DIGESTS[0]
    assert DIGESTS[1] not in reported


async def test_a_cancellation_closes_an_async_source() -> None:
    closed = False
    waiting = False

    async def source() -> Any:
        nonlocal closed, waiting
        try:
            yield lines(1)[0]
            waiting = True
            await asyncio.sleep(3600)
        finally:
            closed = True

    await cancelled_upload([], source(), lambda: waiting)
    assert closed


async def test_a_failure_ends_a_source_that_waits() -> None:
    async def source() -> Any:
        for line in lines(2):
            yield line
        await asyncio.sleep(3600)

    async with uploader.AsyncTracesClient(
        "key", "http://service.test", "", transport=ScriptedTransport([401])
    ) as client:
        with pytest.raises(uploader.UnauthorizedError):
            await client.upload_lines(source(), **EACH)


async def test_a_source_with_a_time_out_of_its_own_stays_in_one_task() -> None:
    async def source() -> Any:
        async with asyncio.timeout(60), asyncio.TaskGroup():
            for line in lines(5):
                yield line

    async with uploader.AsyncTracesClient("key", "http://service.test", "", transport=ScriptedTransport()) as client:
        assert len(await client.upload_lines(source(), **EACH)) == 5
