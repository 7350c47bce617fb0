"""What waits for stores and folders is sent there, found again by the address that the spool keeps."""

import json
from pathlib import Path

import pytest

from tests.uploader.cli.conftest import KEY, Command
from tests.uploader.cli.test_spool_resume import destination_of, num_stored
from tests.uploader.delivery.support import lines, sealed
from tests.uploader.receiver.support import dumps, trace
from tests.uploader.sinks.scripted import scripted_store
from tests.uploader.stores import use_credentials
from uploader.models import LineFormat
from uploader.receiver import ReceiverProcess
from uploader.sinks.files import FileSink
from uploader.spool.batches import Destination
from uploader.spool.folder import DiskFolder


def leave(root: Path, run_id: str, *destinations: Destination, batches: int = 2) -> set[str]:
    folder = DiskFolder.open(root, run_id, destinations)
    made = [sealed(lines(3, 10 * number)) for number in range(batches)]
    for batch in made:
        folder.add(LineFormat.TRACE, batch)
    folder.close()
    return {f"{batch.batch.digest}.jsonl.gz" for batch in made}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def store(address: str) -> Destination:
    return Destination(address, address)


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_credentials(monkeypatch)
    return tmp_path / "spool"


def test_a_folder_gets_its_batches_without_any_key(command: Command, spool: Path, tmp_path: Path) -> None:
    left = leave(spool, "run", FileSink(tmp_path / "out").destination)
    ran = command("spool", "resume", "--spool", spool)
    assert (ran.code, ran.err) == (0, "")
    assert names(tmp_path / "out") == left
    again = command("spool", "resume", "--spool", spool, "--api-key", KEY, "--url", "http://service.test")
    assert (again.code, again.out) == (0, "nothing to send\n")


def test_stores_folders_and_the_service_at_once(
    command: Command, receiver: ReceiverProcess, spool: Path, tmp_path: Path
) -> None:
    with scripted_store() as scripted:
        places = [store(scripted.address("s3")), FileSink(tmp_path / "out").destination, destination_of(receiver.url)]
        folder = DiskFolder.open(spool, "all three", places, context={"run": "all three"})
        folder.add(LineFormat.TRACE, sealed([dumps(trace(f"three-{number}")) + b"\n" for number in range(4)]))
        folder.close()
        ran = command("spool", "resume", "--spool", spool, "--url", receiver.url, "--api-key", KEY)
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert num_stored(receiver, "all three") == 4
    assert len(names(tmp_path / "out")) == 1
    assert [method for method, _ in scripted.requests] == ["PUT"]
    assert not list(spool.glob("*/*.json"))


def test_one_that_is_down_holds_back_no_other(command: Command, spool: Path, tmp_path: Path) -> None:
    """Whichever comes first; what it lacks waits on, and the exit code says so."""
    with scripted_store() as scripted:
        scripted.answers += [(403, "<Code>AccessDenied</Code>")] * 10
        address = scripted.address("s3")
        left = leave(spool, "run", FileSink(tmp_path / "out").destination, store(address))
        leave(spool, "other", store(address), FileSink(tmp_path / "out").destination)
        ran = command("spool", "resume", "--spool", spool, "--json")
        assert ran.code == 1
        assert "2 batches left" in ran.err
        assert "HTTP 403 AccessDenied" in ran.err
        assert names(tmp_path / "out") == left
        results = json.loads(ran.out)
        assert {each["place"] for each in results} == {address, (tmp_path / "out").as_uri()}
        assert sum(each["stored"]["batches"] for each in results) == 4
        scripted.answers.clear()
        again = command("spool", "resume", "--spool", spool)
        assert (again.code, again.err) == (0, "")
        assert {path.rpartition("/")[2] for _, path in scripted.requests} == left


def test_a_place_that_cannot_be_used_is_named(
    command: Command, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000")
    leave(spool, "elsewhere", store("s3://bucket/a"))
    ran = command("spool", "resume", "--spool", spool)
    assert (ran.code, ran.out) == (2, "nothing to send\n")
    assert "s3://bucket/a: " in ran.err
    assert "the environment says that it is s3://bucket/a?endpoint=http://minio:9000" in ran.err
    leave(spool, "here", FileSink(tmp_path / "out").destination)
    assert command("spool", "resume", "--spool", spool).code == 1
    assert names(tmp_path / "out")


def test_show_names_a_store_once(command: Command, spool: Path, tmp_path: Path) -> None:
    leave(spool, "run", store("s3://bucket/a"), destination_of("http://service.test"), batches=1)
    ran = command("spool", "show", "run", "--spool", spool)
    assert ran.out.count("s3://bucket/a") == 1
    assert "traces:" in ran.out
