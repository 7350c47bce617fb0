import pytest

from tests.uploader.spool.support import FILES, TRACES, seal
from uploader.errors import SpoolError, SpoolFullError
from uploader.models import LineFormat
from uploader.spool.batches import Destination, Folder
from uploader.spool.memory import MemoryFolder


def memory(*destinations: Destination, max_batches: int = 2) -> MemoryFolder:
    return MemoryFolder("run", destinations or (TRACES,), max_batches=max_batches, context={"a": "b"})


def test_it_is_a_folder() -> None:
    folder: Folder = memory()
    assert folder.run_id == "run"


def test_a_batch_is_kept_until_it_is_acknowledged() -> None:
    folder, sealed = memory(), seal(b"1\n", b"2\n")
    spooled = folder.add(LineFormat.EPISODE, sealed)
    assert (spooled.seq, spooled.batch, spooled.context, spooled.on_disk) == (1, sealed.batch, {"a": "b"}, False)
    assert spooled.waiting_for == (TRACES,)
    assert folder.waiting() == [spooled]
    assert folder.used_bytes == sealed.compressed_size
    assert folder.load(spooled) is sealed
    assert folder.acknowledge(spooled, "traces")
    assert (folder.waiting(), folder.used_bytes) == ([], 0)
    assert not folder.acknowledge(spooled, "traces")
    with pytest.raises(SpoolError, match="no longer"):
        folder.load(spooled)


def test_the_last_sink_lets_it_go() -> None:
    folder = memory(TRACES, FILES)
    spooled = folder.add(LineFormat.TRACE, seal(b"1\n"))
    assert not folder.acknowledge(spooled, "traces")
    assert [kept.waiting_for for kept in folder.waiting()] == [(FILES,)]
    assert not folder.acknowledge(spooled, "traces")
    assert folder.acknowledge(spooled, "files")
    assert folder.waiting() == []


def test_no_more_than_it_may() -> None:
    folder = memory(max_batches=1)
    spooled = folder.add(LineFormat.TRACE, seal(b"1\n"))
    with pytest.raises(SpoolFullError, match="1 batches wait"):
        folder.add(LineFormat.TRACE, seal(b"2\n"))
    folder.acknowledge(spooled, "traces")
    assert folder.add(LineFormat.TRACE, seal(b"2\n")).seq == 2


def test_parts_take_the_place_of_a_batch_also_when_it_is_full() -> None:
    folder = memory(TRACES, FILES, max_batches=1)
    spooled = folder.add(LineFormat.TRACE, seal(b"1\n", b"2\n"))
    folder.acknowledge(spooled, "traces")
    halves = [seal(b"1\n"), seal(b"2\n")]
    parts = folder.divide(spooled, halves)
    assert folder.waiting() == parts
    assert [part.waiting_for for part in parts] == [(FILES,), (FILES,)]
    assert folder.used_bytes == sum(half.compressed_size for half in halves)


def test_what_is_set_aside_waits_no_more_and_is_kept_beyond_the_end() -> None:
    folder = memory()
    spooled = folder.add(LineFormat.TRACE, seal(b"1\n", b"2\n"))
    folder.set_aside(spooled, "bad")
    folder.set_aside(spooled, "bad again")
    folder.set_aside_line(LineFormat.EPISODE, iter([b"3"]), "too long")
    assert (folder.waiting(), folder.used_bytes) == ([], 0)
    folder.add(LineFormat.TRACE, seal(b"1\n"))
    folder.sync()
    folder.close()
    assert (folder.waiting(), folder.used_bytes) == ([], 0)
    assert [(each.line_format, each.num_records, each.reason, each.content) for each in folder.aside.kept] == [
        (LineFormat.TRACE, 2, "bad", b"1\n2\n"),
        (LineFormat.EPISODE, 1, "too long", b"3"),
    ]
