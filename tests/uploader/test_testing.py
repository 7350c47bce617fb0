import asyncio
import threading
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from uploader.clock import Clock, get_clock
from uploader.testing import FakeClock, ScriptedTransport, fake_time


def test_fake_time_passes_at_once_and_only_inside() -> None:
    with fake_time() as clock:
        assert get_clock() is clock
        start = clock.now()
        clock.sleep(3600, threading.Event())
        asyncio.run(clock.asleep(1800, asyncio.Event()))
        assert clock.now() - start == timedelta(hours=1.5)
        assert clock.sleeps == [3600, 1800]
        assert clock.monotonic() == 5400
    assert type(get_clock()) is Clock


def test_the_real_time_comes_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), fake_time(FakeClock(fraction=0.0)) as clock:
        assert clock.jitter() == 1 // 0
    assert type(get_clock()) is Clock


def test_the_start_can_be_chosen() -> None:
    moment = datetime(2020, 2, 2, tzinfo=UTC)
    assert FakeClock(moment).now() == moment


def test_a_script_is_followed_then_everything_is_stored() -> None:
    transport = ScriptedTransport([500, httpx.ReadError("cut"), lambda request: 418 if request.body else 404])
    with httpx.Client(transport=transport) as client:
        assert client.get("http://h").status_code == 500
        with pytest.raises(httpx.ReadError):
            client.get("http://h")
        assert client.post("http://h", content=b"x").status_code == 418
        stored = client.post("http://h", headers={"Idempotency-Key": "sha256:ab"})
        assert (stored.status_code, stored.json()) == (201, {"upload_id": "ab", "status": "committed"})
    assert [request.body for request in transport.requests] == [b"", b"", b"x", b""]


async def test_async_clients_follow_it_too() -> None:
    async def later(_: object) -> int:
        await asyncio.sleep(0)
        return 418

    async with httpx.AsyncClient(transport=ScriptedTransport([later])) as client:
        assert (await client.get("http://h")).status_code == 418


def test_one_response_may_stand_in_several_scripts() -> None:
    answer = httpx.Response(400, json={"a": 1})
    for _ in range(2):
        with httpx.Client(transport=ScriptedTransport([answer])) as client:
            assert client.get("http://h").json() == {"a": 1}
