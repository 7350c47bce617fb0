"""What the platform was not told is told later, in order, and nothing of it is forgotten before."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.uploader.delivery.support import sealed
from tests.uploader.runs.support import notes_of, rows_of
from tests.uploader.spool.support import TRACES
from uploader.config import Config
from uploader.errors import ForbiddenError, RetryableAPIError
from uploader.models import LineFormat
from uploader.runs.courier import Courier
from uploader.runs.endings import Ending, Status
from uploader.runs.metrics_log import MetricsLog
from uploader.runs.platform import Platform
from uploader.runs.telling import Told, tell, untold
from uploader.runs.untold import Note
from uploader.spool.folder import DiskFolder
from uploader.spool.locks import FolderLock
from uploader.testing import ScriptedTransport, fake_time, refusal

URL, TEAM = "http://p", "team"
END = Ending(Status.COMPLETED, {"best": 1})


def row(number: int, run_id: str = "r1", **changes: str) -> Note:
    return Note(**{"url": URL, "team": TEAM, "kind": "train", "run_id": run_id, **changes}, metrics={"a": number})  # type: ignore[arg-type]


def end(run_id: str = "r1") -> Note:
    return Note(URL, TEAM, "train", run_id, ending=END)


def left_behind(root: Path, *notes: Note, name: str = "platform.jsonl") -> None:
    MetricsLog(root / notes[0].run_id / name).append([note.encode() for note in notes])


class Platforms:
    """Every platform but that of others, by a script."""

    def __init__(self, *script: Any) -> None:
        self.transport = ScriptedTransport([*script, *[200] * 20])

    def courier(self, note: Note) -> Courier | None:
        if note.url != URL:
            return None
        return Courier(Platform(Config("key", note.url, note.team), lambda: 0.5), self.transport)

    def tell(self, root: Path) -> list[Told]:
        with fake_time():
            return tell(root, self.courier)

    @property
    def asked(self) -> list[tuple[str, Any]]:
        return [
            (each.url.path.removeprefix("/api/v1/rft"), orjson.loads(each.body)) for each in self.transport.requests
        ]


def metrics(number: int, run_id: str = "r1") -> tuple[str, Any]:
    return "/metrics", {"run_id": run_id, "metrics": {"a": number}}


FINALIZE = ("/finalize", {"run_id": "r1", "exit_code": 0})


def test_metrics_are_told_and_then_the_end(tmp_path: Path) -> None:
    left_behind(tmp_path, row(1), row(2), end())
    left_behind(tmp_path, row(3, "r2"))
    assert [note.run_id for note in untold(tmp_path)] == ["r1", "r1", "r1", "r2"]
    platforms = Platforms()
    first, second = platforms.tell(tmp_path)
    assert (first.run_id, first.url, first.metrics, first.has_end, first.left) == ("r1", URL, 2, True, 0)
    assert (second.run_id, second.metrics, second.has_end, second.error) == ("r2", 1, False, None)
    assert platforms.asked == [metrics(1), metrics(2), FINALIZE, metrics(3, "r2")]
    assert list(tmp_path.iterdir()) == []
    assert platforms.tell(tmp_path) == []


def test_a_row_that_is_refused_is_kept_elsewhere_and_holds_up_nothing(tmp_path: Path) -> None:
    left_behind(tmp_path, row(1), row(2), end())
    platforms = Platforms(refusal(422, "invalid"))
    (told,) = platforms.tell(tmp_path)
    assert (told.refused, told.metrics, told.has_end, told.left, told.error) == (1, 1, True, 0, None)
    assert (notes_of(tmp_path, "r1"), rows_of(tmp_path, "r1")) == ([], [{"a": 1}])


@pytest.mark.parametrize(
    ("answers", "kind"), [([503] * 5, RetryableAPIError), ([refusal(403, "forbidden")], ForbiddenError)]
)
def test_what_the_platform_does_not_take_now_waits_with_all_after_it(
    answers: list[Any], kind: type[Exception], tmp_path: Path
) -> None:
    left_behind(tmp_path, row(1), row(2), row(3), end())
    platforms = Platforms(200, *answers)
    (told,) = platforms.tell(tmp_path)
    assert (told.metrics, told.has_end, told.left) == (1, False, 3)
    assert isinstance(told.error, kind)
    assert untold(tmp_path) == [row(2), row(3), end()]
    left_behind(tmp_path, row(4))  # by another process of the same run
    again = Platforms()
    (told,) = again.tell(tmp_path)
    assert again.asked == [metrics(2), metrics(3), FINALIZE, metrics(4)]
    assert (told.metrics, told.has_end, told.left, list(tmp_path.iterdir())) == (3, True, 0, [])


def test_an_end_that_is_refused_waits(tmp_path: Path) -> None:
    left_behind(tmp_path, end())
    (told,) = Platforms(refusal(404, "unknown")).tell(tmp_path)
    assert (told.has_end, told.left, "unknown" in str(told.error)) == (False, 1, True)
    assert untold(tmp_path) == [end()]


def test_the_end_is_told_when_no_record_waits_any_more(tmp_path: Path) -> None:
    folder = DiskFolder.open(tmp_path, "r1", [TRACES])
    spooled = folder.add(LineFormat.TRACE, sealed([b"1\n"]))
    folder.close()
    left_behind(tmp_path, row(1), end())
    platforms = Platforms()
    (told,) = platforms.tell(tmp_path)
    assert (told.metrics, told.has_end, told.left, told.error) == (1, False, 1, None)
    folder = DiskFolder.open_existing(tmp_path / "r1")
    folder.acknowledge(spooled, TRACES.sink)
    folder.close()
    (told,) = platforms.tell(tmp_path)
    assert (told.has_end, told.left) == (True, 0)
    assert platforms.asked == [metrics(1), FINALIZE]


def test_nobody_else_s_platform_is_told(tmp_path: Path) -> None:
    left_behind(tmp_path, row(1, url="http://other"), row(2), end())
    platforms = Platforms()
    (told,) = platforms.tell(tmp_path)
    assert (told.metrics, told.has_end, told.left, told.error) == (1, False, 2, None)
    assert untold(tmp_path) == [row(1, url="http://other"), end()]


def test_a_run_in_use_tells_by_itself(tmp_path: Path) -> None:
    left_behind(tmp_path, row(1))
    lock = FolderLock(tmp_path / "r1")
    assert Platforms().tell(tmp_path) == []
    lock.release()
    assert len(Platforms().tell(tmp_path)) == 1


def test_one_that_was_killed_is_gone_on_with(tmp_path: Path) -> None:
    left_behind(tmp_path, row(1), row(2), name="platform.jsonl.telling")
    left_behind(tmp_path, row(3), end())
    with (tmp_path / "r1" / "platform.jsonl").open("ab") as file:
        file.write(b'{"url": "http://p", "te')  # cut by a crash
    platforms = Platforms()
    (told,) = platforms.tell(tmp_path)
    assert platforms.asked == [metrics(1), metrics(2), metrics(3), FINALIZE]
    assert (told.metrics, told.left, list(tmp_path.iterdir())) == (3, 0, [])


def test_ctrl_c_forgets_nothing(tmp_path: Path) -> None:
    left_behind(tmp_path, row(1), row(2), end())

    def interrupt(request: object) -> Any:
        raise KeyboardInterrupt

    platforms = Platforms(200, interrupt)
    seen: list[Told] = []
    with fake_time(), pytest.raises(KeyboardInterrupt):
        tell(tmp_path, platforms.courier, seen.append)
    assert [(told.metrics, told.left) for told in seen] == [(1, 2)]
    assert untold(tmp_path) == [row(2), end()]


def test_a_spool_that_is_not_there_has_nothing_to_tell(tmp_path: Path) -> None:
    assert untold(tmp_path / "none") == []
    assert tell(tmp_path / "none", lambda note: None) == []
