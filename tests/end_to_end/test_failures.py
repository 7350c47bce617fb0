"""The receiver is killed, missing, or refuses: what was committed is told, and nothing is stored twice."""

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import uploader
from encoder.synthetic import synthetic_episode
from tests.end_to_end.service import Service, oracle, running
from tests.uploader.faces import KEY, Face
from uploader.clock import Clock, set_clock
from uploader.receiver import ReceiverProcess
from uploader.testing import fake_time

EPISODES = [synthetic_episode(seed, target_bytes=60_000) for seed in range(40)]
EACH: dict[str, Any] = {"line_format": "episode", "target_batch_bytes": 60_000}
"""About one episode a batch."""


class HurriedClock(Clock):
    """Waits a hundredth of what it should."""

    def sleep(self, delay_s: float, stop: threading.Event) -> None:
        super().sleep(delay_s / 100, stop)

    async def asleep(self, delay_s: float, stop: Any) -> None:
        await super().asleep(delay_s / 100, stop)


@pytest.fixture
def hurried() -> Any:
    set_clock(HurriedClock())
    yield
    set_clock(None)


class Killer:
    """Kills the receiver after certain receipts, and soon starts another on the same directory and port."""

    def __init__(self, service: Service, after: tuple[int, ...]) -> None:
        self.digests: list[str] = []
        self.kills = 0
        self._service = service
        self._after = after
        self._restart: threading.Thread | None = None

    def on_batch(self, batch: uploader.Batch, receipt: uploader.UploadReceipt) -> None:
        self.digests.append(receipt.upload_id)
        if len(self.digests) in self._after:
            self.join()
            self._service.receiver.kill()
            self.kills += 1
            self._restart = threading.Thread(target=self._start)
            self._restart.start()

    def _start(self) -> None:
        threading.Event().wait(0.1)  # a while in which nobody answers
        port = int(self._service.receiver.url.rpartition(":")[2])
        self._service.receiver = ReceiverProcess(self._service.data_dir, KEY, port=port, hold_upload_s=0.02)

    def join(self) -> None:
        if self._restart is not None:
            self._restart.join()


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("after", [(1,), (4, 15, 22)], ids=["once", "three times"])
def test_a_receiver_killed_during_uploads(face: Face, tmp_path: Path, after: tuple[int, ...]) -> None:
    retries: list[uploader.Sleep] = []
    with running(face, tmp_path, hold_upload_s=0.02) as service:
        killer = Killer(service, after)
        receipts = service.call(
            "upload_records",
            EPISODES,
            max_attempts=10_000,
            on_batch=killer.on_batch,
            on_retry=retries.append,
            **EACH,
        )
        killer.join()
        assert killer.kills == len(after)
        assert retries
        assert {type(retry.error) for retry in retries} <= {uploader.TransportError, uploader.RetryableAPIError}
        digests = [receipt.upload_id for receipt in receipts]
        assert digests == killer.digests
        assert len(set(digests)) == len(digests) > 20

        service.receiver.kill()  # what was answered outlives one more
        service.receiver = ReceiverProcess(tmp_path, KEY)
        assert service.stored_files() == set(digests)
        assert not list((tmp_path / "incoming").iterdir())
        names = [episode.id for episode in EPISODES]
        assert service.read_all("get_episode_raw", names) == [oracle(episode) for episode in EPISODES]

        before = {item.episode_id: item.ingested_at for item in service.call("iter_episodes")}
        assert before.keys() == set(names)
        again = service.call("upload_records", EPISODES, **EACH)
        assert again == receipts
        assert service.stored_files() == set(digests)
        assert {item.episode_id: item.ingested_at for item in service.call("iter_episodes")} == before


def test_a_wrong_key_stops_at_once(service: Service) -> None:
    sent: list[Any] = []
    with pytest.raises(uploader.UnauthorizedError) as caught:
        service.call(
            "upload_records",
            EPISODES,
            api_key="pk-wrong-and-secret",
            max_in_flight=1,
            on_batch=lambda *_: sent.append(1),
            on_retry=sent.append,
            **EACH,
        )
    assert (caught.value.status_code, caught.value.attempts, caught.value.receipts) == (401, 1, ())
    assert caught.value.batch is not None
    assert caught.value.batch.first_line_number == 1
    assert "pk-wrong-and-secret" not in f"{caught.value} {caught.value!r} {vars(caught.value)}"
    assert sent == []
    with pytest.raises(uploader.UnauthorizedError):
        service.call("list", api_key="pk-wrong-and-secret")
    assert service.call("list").items == []


def test_a_service_that_was_never_there(face: Face) -> None:
    delays: list[float] = []
    with fake_time() as clock, pytest.raises(uploader.TransportError) as caught:
        face.use(
            None,
            lambda client: client.upload_records(
                EPISODES, max_in_flight=1, on_retry=lambda retry: delays.append(retry.delay_s), **EACH
            ),
            base_url="http://127.0.0.1:1",
        )
    assert (caught.value.attempts, caught.value.receipts) == (5, ())
    assert delays == clock.sleeps == [1.0, 2.0, 4.0, 8.0]
    assert "127.0.0.1:1" in str(caught.value)


def test_a_service_that_goes_away_leaves_its_receipts(face: Face, tmp_path: Path) -> None:
    committed: list[str] = []
    with running(face, tmp_path) as service:

        def on_batch(batch: uploader.Batch, receipt: uploader.UploadReceipt) -> None:
            committed.append(receipt.upload_id)
            if len(committed) == 3:
                service.receiver.kill()

        with fake_time(), pytest.raises(uploader.TransportError) as caught:
            service.call("upload_records", EPISODES, max_in_flight=2, max_attempts=3, on_batch=on_batch, **EACH)
        assert caught.value.attempts == 3
        assert [receipt.upload_id for receipt in caught.value.receipts] == committed
        assert len(committed) >= 3
        service.receiver = ReceiverProcess(tmp_path, KEY)
        assert service.stored_files() >= set(committed)
        # The same call ends the work: what is there already is not stored again.
        receipts = service.call("upload_records", EPISODES, **EACH)
        assert [receipt.upload_id for receipt in receipts][: len(committed)] == committed
        assert service.stored_files() == {receipt.upload_id for receipt in receipts}


def test_a_record_that_the_service_rejects_is_named_by_its_batch(service: Service) -> None:
    good = EPISODES[0]
    bad = {"id": "x" * 1000, "env": {"id": "e"}, "errors": [], "traces": []}
    with pytest.raises(uploader.ValidationRejectedError) as caught:
        service.call("upload_records", [good, bad], max_in_flight=1, line_format="episode", target_batch_bytes=1)
    assert (caught.value.status_code, caught.value.code) == (400, "episode_id_too_long")
    assert caught.value.batch is not None
    assert (caught.value.batch.first_line_number, caught.value.batch.num_lines) == (2, 1)
    assert len(caught.value.receipts) == 1
    assert service.read_all("get_episode_raw", [good.id]) == [oracle(good)]


def test_the_same_lines_under_another_format_conflict(service: Service) -> None:
    line = b'{"id":"both","version":1,"nodes":[],"calls":[]}\n'
    service.call("upload_lines", [line])
    with pytest.raises(uploader.LineFormatConflictError, match='line_format="trace"'):
        service.call("upload_lines", [line], line_format="episode")


def test_a_line_of_another_format_is_refused_with_the_argument_to_give(service: Service) -> None:
    with pytest.raises(uploader.ValidationRejectedError, match=r'X-Prime-Line-Format: .* line_format="episode"'):
        service.call("upload_records", [{"id": "no trace", "traces": []}])


def test_what_is_not_there_is_not_found(service: Service) -> None:
    for method in ("get", "get_raw", "get_episode", "get_episode_raw", "get_run"):
        with pytest.raises(uploader.NotFoundError):
            service.call(method, "nobody")
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    assert service.call("list", created_before=moment).items == []
