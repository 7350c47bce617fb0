"""Calls with a limit of time, and a transport for both kinds of client."""

import asyncio
import threading
from typing import Any

import httpx
import pytest

from uploader.runs import background
from uploader.runs.background import BlockingTransport, blocking_transport, in_daemon, within
from uploader.testing import ScriptedTransport


def test_a_result_and_an_error_come_back() -> None:
    assert within(10, lambda stop: 5, "test") == 5
    assert within(None, lambda stop: 5, "test") == 5
    with pytest.raises(ZeroDivisionError):
        within(10, lambda stop: 1 // 0, "test")


def test_what_takes_too_long_is_told_and_left() -> None:
    told = threading.Event()

    def work(stop: threading.Event) -> None:
        stop.wait(10)
        told.set()
        threading.Event().wait(0.1)

    with pytest.raises(TimeoutError):
        within(0.0, work, "test")
    assert told.wait(10)


def test_it_is_a_daemon() -> None:
    assert within(10, lambda stop: threading.current_thread().daemon, "test")


def test_where_no_thread_can_be_started_the_one_that_waits_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    standby = background._Standby()
    monkeypatch.setattr(background, "_standby", standby)
    be_ready = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", start)
    assert within(10, lambda stop: threading.current_thread(), "test") is threading.current_thread()
    monkeypatch.setattr(threading.Thread, "start", be_ready)
    background.be_ready_for_exit()
    monkeypatch.setattr(threading.Thread, "start", start)
    assert within(10, lambda stop: threading.current_thread().name, "test") == "uploader-standby"
    standby.forget()
    assert within(10, lambda stop: threading.current_thread(), "test") is threading.current_thread()


async def test_an_event_loop_goes_on_meanwhile() -> None:
    go_on = threading.Event()
    call = asyncio.ensure_future(in_daemon(lambda stop: go_on.wait(10), "test"))
    await asyncio.sleep(0)
    assert not call.done()
    go_on.set()
    assert await call
    with pytest.raises(ZeroDivisionError):
        await in_daemon(lambda stop: 1 // 0, "test")


async def test_a_cancellation_waits_for_the_end() -> None:
    hurried, ended = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        stop.wait(10)
        hurried.wait(10)
        ended.set()

    call = asyncio.ensure_future(in_daemon(work, "test", hurried.set))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert ended.is_set()


async def test_a_second_cancellation_does_not() -> None:
    never = threading.Event()
    call = asyncio.ensure_future(in_daemon(lambda stop: never.wait(60), "test"))
    for _ in range(2):
        await asyncio.sleep(0.01)
        assert not call.done()
        call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    never.set()


class OnlyAsync(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)
        content = b'{"got": %d}' % len(await request.aread())
        return httpx.Response(201, headers={"x-a": "b"}, stream=httpx.ByteStream(content))


def test_an_asynchronous_transport_serves_a_synchronous_client() -> None:
    transport = blocking_transport(OnlyAsync())
    assert isinstance(transport, BlockingTransport)
    with httpx.Client(transport=transport) as client:
        answer = client.post("http://h/", content=iter([b"12", b"345"]))
    assert (answer.status_code, answer.json(), answer.headers["x-a"]) == (201, {"got": 5}, "b")


@pytest.mark.parametrize("transport", [None, ScriptedTransport()])
def test_what_serves_both_is_left_as_it_is(transport: Any) -> None:
    assert blocking_transport(transport) is transport
