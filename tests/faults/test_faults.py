"""Whatever happens on the way, every batch is stored once, and none is set aside."""

import time
from pathlib import Path

import pytest

from tests.faults.conftest import KEY, Producer, stored_names
from tests.faults.proxy import (
    Fault,
    FaultProxy,
    answering,
    garbage,
    login_page,
    never_answer,
    never_read,
    reset_at_once,
    reset_in_body,
    store_and_cut,
    store_and_say_nothing,
    trickle,
    trickle_for_ever,
    wrong_receipt,
)
from tests.uploader.delivery.support import FOREVER_S, sealed
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.spool.folder import DiskFolder
from uploader.testing import FakeClock

FAULTS: dict[str, Fault] = {
    "reset-at-once": reset_at_once,
    "reset-in-body": reset_in_body,
    "stored-and-cut": store_and_cut,
    "stored-and-silent": store_and_say_nothing,
    "trickle": trickle,
    "garbage": garbage,
    "login-page": login_page,
    "wrong-receipt": wrong_receipt,
    "429": answering(429),
    "429-retry-after": answering(429, Retry_After="7"),
    "503-retry-after-date": answering(503, Retry_After="Thu, 01 Jan 2026 00:00:09 GMT"),
    "503": answering(503, b"<html>try later</html>"),
    "408": answering(408),
    "500": answering(500),
    "502": answering(502, b"bad gateway"),
    "404": answering(404),
    "redirect": answering(302, Location="http://elsewhere.test/"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_batch_is_stored_once(name: str, receiver: ReceiverProcess, tmp_path: Path, clock: FakeClock) -> None:
    with FaultProxy(receiver.url, [FAULTS[name]] * 4) as proxy:
        producer = Producer(proxy.url, tmp_path, name)
        producer.log(5)
        producer.sender.start(name)
        assert producer.sender.wait_idle(FOREVER_S)
        assert producer.sender.stop(FOREVER_S)
    assert stored_names(receiver, name) == producer.names()
    assert producer.folder.waiting() == []
    assert producer.listener.rejections == []
    assert len(producer.listener.stored_digests) == 5


@pytest.mark.parametrize("fault", [never_answer, never_read], ids=["never-answers", "never-reads"])
def test_a_service_that_never_answers_is_tried_again(
    fault: Fault, receiver: ReceiverProcess, tmp_path: Path, clock: FakeClock
) -> None:
    with FaultProxy(receiver.url, [fault] * 2) as proxy:
        producer = Producer(proxy.url, tmp_path, fault.__name__, timeout_s=0.2)
        producer.log(3)
        producer.sender.start("run")
        assert producer.sender.wait_idle(FOREVER_S)
        assert producer.sender.stop(FOREVER_S)
    assert stored_names(receiver, fault.__name__) == producer.names()


def test_connections_that_are_refused_are_tried_until_they_are_not(
    receiver: ReceiverProcess, tmp_path: Path, clock: FakeClock
) -> None:
    with FaultProxy(receiver.url) as proxy:
        producer = Producer(proxy.url, tmp_path, "refused")
        proxy.refuse()
        producer.log(3)
        producer.sender.start("run")
        while len(producer.listener.errors) < 10:
            time.sleep(0.001)
        proxy.accept()
        assert producer.sender.wait_idle(FOREVER_S)
        assert producer.sender.stop(FOREVER_S)
        assert len(producer.listener.pauses) == 1
    assert stored_names(receiver, "refused") == producer.names()


@pytest.mark.parametrize(("name", "delay_s"), [("429-retry-after", 7.0), ("503-retry-after-date", 9.0)])
def test_the_service_says_how_long_to_pause(
    name: str, delay_s: float, receiver: ReceiverProcess, tmp_path: Path, clock: FakeClock
) -> None:
    run_id = f"pause-{name}"
    with FaultProxy(receiver.url, [FAULTS[name]]) as proxy:
        producer = Producer(proxy.url, tmp_path, run_id)
        producer.log(1)
        producer.sender.start("run")
        assert producer.sender.wait_idle(FOREVER_S)
        assert producer.sender.stop(FOREVER_S)
    assert producer.listener.delays_s == [pytest.approx(delay_s * 1.125)]


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_key_or_account_stops_and_keeps_everything(
    status: int, receiver: ReceiverProcess, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "uploader")
    with FaultProxy(receiver.url, [answering(status, f"the key {KEY} is refused".encode())]) as proxy:
        producer = Producer(proxy.url, tmp_path, f"stopped-{status}")
        producer.log(5)
        producer.sender.start("run")
        assert producer.sender.wait_idle(30)
        assert proxy.num_connections == 1
        assert producer.sender.stop(5)
    assert len(producer.folder.waiting()) == 5
    assert len(producer.listener.stops) == 1
    assert "is refused" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(producer.sender.stats())


@pytest.mark.parametrize(
    "fault", [never_answer, never_read, trickle_for_ever], ids=["never-answers", "never-reads", "trickles"]
)
def test_stopping_gives_up_what_is_stuck_and_the_spool_keeps_it(
    fault: Fault, receiver: ReceiverProcess, tmp_path: Path
) -> None:
    run_id = f"stuck-{fault.__name__}"
    with FaultProxy(receiver.url, [fault] * 8) as proxy:
        producer = Producer(proxy.url, tmp_path, run_id, max_in_flight=8)
        producer.log(8)
        producer.sender.start("run")
        while proxy.num_connections < 2:
            time.sleep(0.001)
        assert not producer.sender.wait_idle(0.05)
        producer.sender.stop(0.0)
        assert producer.sender.stop(30)
    assert len(producer.folder.waiting()) == 8
    assert producer.listener.under_way == set()
    producer.folder.close()
    left = DiskFolder.open_existing(producer.folder.path)
    assert len(left.waiting()) == 8
    left.close()


def test_a_bad_record_costs_itself_at_a_real_receiver(receiver: ReceiverProcess, tmp_path: Path) -> None:
    producer = Producer(receiver.url, tmp_path, "bad", max_in_flight=8)
    producer.log(2, records=100)
    content = [b'{"version":1,"id":"bad-%d","nodes":[],"calls":[]}\n' % number for number in range(200, 264)]
    broken = content[:]
    broken[17] = b'{"id": 7}\n'
    producer.sender.offer(producer.folder, producer.folder.add(LineFormat.TRACE, sealed(broken)))
    producer.sender.start("run")
    assert producer.sender.wait_idle(60)
    assert producer.sender.stop(10)
    expected = [*producer.names(), *(f"bad-{number}" for number in range(200, 264) if number != 217)]
    assert stored_names(receiver, "bad") == sorted(expected)
    [(spooled, _)] = producer.listener.rejections
    assert spooled.batch.num_lines == 1
    assert producer.folder.waiting() == []


def test_several_producers_at_a_receiver_that_admits_two_requests_all_finish(tmp_path: Path, clock: FakeClock) -> None:
    with ReceiverProcess(tmp_path / "data", max_requests_in_flight=2, hold_upload_s=0.01) as receiver:
        producers = [Producer(receiver.url, tmp_path, f"p{number}", max_in_flight=4) for number in range(4)]
        for producer in producers:
            producer.log(10)
        for producer in producers:
            producer.sender.start(producer.run_id)
        for producer in producers:
            assert producer.sender.wait_idle(FOREVER_S)
            assert producer.sender.stop(FOREVER_S)
        for producer in producers:
            assert stored_names(receiver, producer.run_id) == producer.names()
            assert producer.listener.rejections == []
