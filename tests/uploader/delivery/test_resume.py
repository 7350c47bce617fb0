from pathlib import Path

import pytest

from tests.uploader.delivery.support import ScriptedSink, lines, refusing, sealed
from uploader.delivery.resume import Resumed, put_in_order, resume, together
from uploader.errors import DamagedBatchError, RetryableAPIError, SpoolError, TransportError, UnauthorizedError
from uploader.models import LineFormat
from uploader.spool.batches import Destination
from uploader.spool.folder import DiskFolder
from uploader.spool.locks import FolderLock
from uploader.testing import fake_time

OTHER = Destination("test", "https://test.test", "another team")


def left_behind(root: Path, run_id: str, sink: ScriptedSink, batches: int, *others: Destination) -> list[bytes]:
    folder = DiskFolder.open(root, run_id, [sink.destination, *others])
    content = [b'{"run":"%s","n":%d}\n' % (run_id.encode(), number) for number in range(batches)]
    for line in content:
        folder.add(LineFormat.TRACE, sealed([line]))
    folder.close()
    return content


def test_what_all_runs_left_is_sent_once_and_in_order(tmp_path: Path) -> None:
    sink = ScriptedSink()
    first, second = left_behind(tmp_path, "a", sink, 5), left_behind(tmp_path, "b", sink, 3)
    results = resume(tmp_path, [sink], max_in_flight=1)
    assert sink.stored == first + second
    assert [(result.run_id, result.batches, result.records, result.left_batches) for result in results] == [
        ("a", 5, 5, 0),
        ("b", 3, 3, 0),
    ]
    assert list(tmp_path.iterdir()) == []
    assert resume(tmp_path, [sink]) == []


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    sink = ScriptedSink()
    left_behind(tmp_path, "a", sink, 2)
    user = DiskFolder.open_existing(tmp_path / "a")
    assert resume(tmp_path, [sink]) == []
    assert sink.batches == []
    user.close()
    assert len(resume(tmp_path, [sink])) == 1


def test_what_waits_for_another_team_is_left_alone(tmp_path: Path) -> None:
    sink, other = ScriptedSink(), ScriptedSink()
    other.destination = OTHER
    left_behind(tmp_path, "a", other, 2)
    mine = left_behind(tmp_path, "b", sink, 1)
    assert [result.run_id for result in resume(tmp_path, [sink])] == ["b"]
    assert sink.stored == mine
    assert len(DiskFolder.open_existing(tmp_path / "a").waiting()) == 2


def test_a_batch_that_also_waits_for_somebody_else_stays_for_them(tmp_path: Path) -> None:
    sink, files = ScriptedSink(), Destination("files", "/backup")
    left_behind(tmp_path, "a", sink, 2, files)
    [result] = resume(tmp_path, [sink])
    assert (result.batches, result.left_batches) == (2, 0)
    folder = DiskFolder.open_existing(tmp_path / "a")
    assert [batch.waiting_for for batch in folder.waiting()] == [(files,)] * 2
    folder.close()
    assert resume(tmp_path, [sink]) == []


@pytest.mark.parametrize(
    ("error", "requests"),
    [(TransportError("refused"), 6), (RetryableAPIError("full", status_code=429), 30)],
    ids=["unreachable", "full"],
)
def test_a_service_that_is_down_is_given_up_and_everything_is_kept(
    error: Exception, requests: int, tmp_path: Path
) -> None:
    sink = ScriptedSink(always=error)
    left_behind(tmp_path, "a", sink, 3)
    left_behind(tmp_path, "b", sink, 3)
    with fake_time():
        [result] = resume(tmp_path, [sink], max_in_flight=1)
    assert (result.run_id, result.batches, result.left_batches, result.error) == ("a", 0, 3, error)
    assert len(sink.batches) >= requests
    assert len(DiskFolder.open_existing(tmp_path / "b").waiting()) == 3


def test_a_service_that_is_down_for_a_while_is_waited_for(tmp_path: Path) -> None:
    sink = ScriptedSink([TransportError("refused")] * 4)
    content = left_behind(tmp_path, "a", sink, 3)
    with fake_time():
        [result] = resume(tmp_path, [sink])
    assert sorted(sink.stored) == content
    assert result.error is None


def test_a_refused_key_ends_it(tmp_path: Path) -> None:
    error = UnauthorizedError("no", status_code=401)
    sink = ScriptedSink([error])
    left_behind(tmp_path, "a", sink, 3)
    left_behind(tmp_path, "b", sink, 3)
    [result] = resume(tmp_path, [sink], max_in_flight=1)
    assert (result.left_batches, result.error, len(sink.batches)) == (3, error, 1)


def test_a_bad_record_and_a_damaged_batch_are_counted_and_the_rest_is_sent(tmp_path: Path) -> None:
    content = lines(20)
    sink = ScriptedSink(always=refusing(content[3]))
    folder = DiskFolder.open(tmp_path, "a", [sink.destination])
    folder.add(LineFormat.TRACE, sealed(content))
    damaged = folder.add(LineFormat.EPISODE, sealed(lines(7, 20)))
    folder.close()
    [path] = tmp_path.glob(f"a/*{damaged.batch.digest[:8]}*.gz")
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    [result] = resume(tmp_path, [sink])
    assert (result.records, result.rejected_records, result.left_batches) == (19, 1 + 7, 0)


def test_ctrl_c_keeps_what_is_left_and_tells_of_it(tmp_path: Path) -> None:
    sink = ScriptedSink()
    left_behind(tmp_path, "a", sink, 2)
    left_behind(tmp_path, "b", sink, 2)
    found: list[Resumed] = []

    def interrupt(result: Resumed) -> None:
        found.append(result)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path, [sink], on_folder=interrupt)
    assert [result.run_id for result in found] == ["a"]
    folder = DiskFolder.open_existing(tmp_path / "b")
    assert len(folder.waiting()) == 2
    folder.close()


def test_what_the_opening_finds_damaged_is_counted_as_what_the_sending_finds(tmp_path: Path) -> None:
    sink = ScriptedSink()
    content = left_behind(tmp_path, "a", sink, 3)
    for number, path in enumerate(sorted(tmp_path.glob("a/*.gz"))[:2]):
        path.write_bytes(path.read_bytes()[:-1] + b"x" * number)
    [result] = resume(tmp_path, [sink])
    assert (sink.stored, result.records, result.rejected_records) == (content[2:], 1, 2)
    assert [damaged.num_records for damaged in result.damaged] == [1, 1]


def test_a_folder_in_use_or_gone_or_in_order_has_nothing_to_be_told_of(tmp_path: Path) -> None:
    left_behind(tmp_path, "a", ScriptedSink(), 2)
    assert put_in_order(tmp_path / "a") is None
    assert put_in_order(tmp_path / "gone") is None
    min(tmp_path.glob("a/*.gz")).unlink()
    user = FolderLock(tmp_path / "a")
    assert put_in_order(tmp_path / "a") is None
    user.release()
    result = put_in_order(tmp_path / "a")
    assert result is not None
    assert (result.run_id, result.destination, result.rejected_records, result.left_batches) == ("a", None, 1, 0)
    assert put_in_order(tmp_path / "a") is None


def test_a_folder_that_cannot_be_opened_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "a" / "lock").mkdir(parents=True)
    result = put_in_order(tmp_path / "a")
    assert result is not None
    assert ([type(problem) for problem in result.problems], result.rejected_records) == ([SpoolError], 0)


def test_what_was_wrong_in_a_folder_is_in_the_first_result_of_it(tmp_path: Path) -> None:
    place, damaged = ScriptedSink().destination, DamagedBatchError("b", "cut", 3)
    wrong = [Resumed("a", tmp_path / name, rejected_records=3, problems=[damaged]) for name in ("a", "b")]
    sent = [Resumed("a", tmp_path / "a", each, rejected_records=1) for each in (place, OTHER)]
    found = together([*wrong, *sent])
    assert [(each.path.name, each.destination, each.rejected_records) for each in found] == [
        ("a", place, 4),
        ("a", OTHER, 1),
        ("b", None, 3),
    ]
    sent[0].note_found([damaged])
    assert sent[0].rejected_records == 4
