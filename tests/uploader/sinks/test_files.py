import asyncio
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.uploader.delivery.support import content_of, lines, sealed
from tests.uploader.sinks.support import FOLDER, RUN, send
from uploader.delivery.verdicts import Verdict, verdict_on
from uploader.errors import ConfigurationError, StoreError, StoreRefusedError
from uploader.models import LineFormat
from uploader.sealing import Sealer
from uploader.sinks import files
from uploader.sinks.base import SinkBatch
from uploader.sinks.files import FileSink
from uploader.spool.batches import Destination


def test_a_batch_is_a_file_named_by_its_lines(tmp_path: Path) -> None:
    batches = [sealed(lines(3)), sealed(lines(3, 10))]
    root = tmp_path / "new" / "out"
    receipts = send(FileSink(root), [*batches, batches[0]])  # the same again changes nothing
    assert [receipt.upload_id for receipt in receipts] == [each.batch.digest for each in (*batches, batches[0])]
    assert {receipt.status for receipt in receipts} == {"committed"}
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert found == {f"{FOLDER}/episode/{each.batch.digest}.jsonl.gz": b"".join(each.pieces) for each in batches}


def test_kinds_are_apart_and_plain_lines_are_named_so(tmp_path: Path) -> None:
    sealer = Sealer(compress=False)
    sealer.add([b"{}\n"], 3, 1)
    plain = sealer.seal()
    send(FileSink(tmp_path), [plain], LineFormat.TRACE)
    assert (tmp_path / FOLDER / "trace" / f"{plain.batch.digest}.jsonl").read_bytes() == b"{}\n"


def test_others_may_read_it_as_far_as_the_user_lets_them(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        send(FileSink(tmp_path / "out"), [sealed(lines(1))])
    finally:
        os.umask(before)
    [file] = (path for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o750


def test_its_names(tmp_path: Path) -> None:
    told = tmp_path.as_uri()
    sink = FileSink(tmp_path)
    assert (sink.name, sink.destination) == (told, Destination(told, told))
    assert FileSink(told).destination == sink.destination
    assert FileSink(tmp_path, name="disk").destination == Destination("disk", told)
    other = Destination("disk", "file:///before")
    assert (FileSink(tmp_path, destination=other).name, FileSink(tmp_path, destination=other).destination) == (
        "disk",
        other,
    )
    for address in ("s3://bucket/a", "https://host"):
        with pytest.raises(ConfigurationError, match="no folder"):
            FileSink(address)


def test_a_folder_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as caught:
        send(FileSink(tmp_path / "file" / "out"), [sealed(lines(1))])
    assert verdict_on(caught.value) is Verdict.AGAIN


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_others_stops_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreRefusedError) as caught:
        send(FileSink(tmp_path / "out"), [sealed(lines(1))])
    assert verdict_on(caught.value) is Verdict.STOP


def test_a_disk_that_hangs_is_given_up_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(files, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(files, "write_whole", lambda *arguments: let_go.wait(30))
    with pytest.raises(StoreError, match="did not answer within"):
        send(FileSink(tmp_path), [sealed(lines(1))])
    let_go.set()


def test_several_at_once(tmp_path: Path) -> None:
    batches = [sealed(lines(2, 10 * number)) for number in range(30)]

    async def go() -> list[Any]:
        sink = FileSink(tmp_path)
        await sink.start(RUN)
        sent = [SinkBatch(RUN, LineFormat.EPISODE, batch) for batch in (*batches, *batches)]
        done = await asyncio.gather(*map(sink.send, sent))
        await sink.close()
        return done

    assert len(asyncio.run(go())) == 60
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(found) == 30
    by_name = {f"{batch.batch.digest}.jsonl.gz": batch for batch in batches}
    assert all(path.read_bytes() == b"".join(by_name[path.name].pieces) for path in found)
    assert content_of(batches[0]) == b"".join(lines(2))
