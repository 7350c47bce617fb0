"""What earlier runs left is sent, and counted apart."""

import logging

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, Bench, FakeFolder, hold, until
from uploader.errors import DamagedBatchError, SpoolError
from uploader.models import LineFormat
from uploader.sealing import Sealer
from uploader.spool.batches import SpooledBatch
from uploader.worker.counts import Counts, EarlierCounts
from uploader.worker.events import Resumed, SpoolDamaged


def folder_with(*sizes: int) -> FakeFolder:
    folder = FakeFolder()
    for number, size in enumerate(sizes):
        sealer = Sealer()
        for _ in range(size):
            sealer.add([b"%d\n" % number], 2, 1)
        folder.add(LineFormat.EPISODE, sealer.seal())
    return folder


def test_they_are_sent_and_counted_apart() -> None:
    left = [folder_with(2, 3), folder_with(4)]
    bench = Bench(find_leftovers=lambda: iter(left))
    bench.worker.submit([b"{}"])
    assert bench.worker.flush(TIMEOUT_S)
    until(lambda: bench.counts.earlier == EarlierCounts(stored=9))
    assert bench.counts == Counts(submitted=1, stored=1, earlier=EarlierCounts(stored=9))
    assert [batch.batch.num_lines for _, batch in bench.delivery.resumed] == [2, 3, 4]
    bench.worker.close(TIMEOUT_S)
    assert [event for event in bench.events if isinstance(event, Resumed)] == [
        Resumed("run", 2, 5),
        Resumed("run", 1, 4),
    ]
    assert all(folder.closed.is_set() for folder in left)


def test_what_is_in_the_run_s_own_folder_is_sent_as_well() -> None:
    bench = Bench(deal=hold)
    bench.disk = folder_with(2)
    bench.worker._engine.keeper.disk = bench.disk
    bench.worker.submit([b"{}"])
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts == Counts(submitted=1, spooled=1, earlier=EarlierCounts(spooled=2))


def test_damage_is_reported_with_its_number_of_records(caplog: pytest.LogCaptureFixture) -> None:
    left = folder_with(1)
    left.problems = [DamagedBatchError("there", "cut short", 7)]
    bench = Bench(find_leftovers=lambda: [left])
    problem = SpoolError("here", "cannot be removed")
    bench.disk.problems = [problem]
    bench.worker.submit([b"{}"])
    assert bench.worker.flush(TIMEOUT_S)
    until(lambda: bench.counts.earlier.stored == 1)
    bench.worker.close(TIMEOUT_S)
    damage = [event.error for event in bench.events if isinstance(event, SpoolDamaged)]
    assert damage[0] is problem
    assert [error.num_records for error in damage if isinstance(error, DamagedBatchError)] == [7]
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2


class Unreadable(FakeFolder):
    def waiting(self) -> list[SpooledBatch]:
        raise SpoolError("there", "no such folder")


def test_a_folder_that_cannot_be_read_costs_itself() -> None:
    left = [Unreadable(), folder_with(1)]
    bench = Bench(find_leftovers=lambda: left)
    bench.worker.submit([b"{}"])
    until(lambda: bench.counts.earlier.stored == 1)
    assert bench.worker.stats.restarts == 0


def test_a_search_that_fails_is_not_repeated() -> None:
    searches: list[int] = []

    def find() -> list[FakeFolder]:
        searches.append(1)
        raise RuntimeError("a bug")

    bench = Bench(find_leftovers=find)
    bench.worker.submit([b"{}"])
    until(lambda: bench.worker._engine.threads[2].ended.is_set())
    assert bench.worker.stats.restarts == 1
    assert searches == [1]


def test_after_the_end_none_is_taken() -> None:
    left = folder_with(1)
    bench = Bench(find_leftovers=lambda: [left])
    bench.worker.close(0)
    bench.worker._engine.leftovers.work()
    assert left.closed.is_set()
    assert bench.deliveries[0].resumed == []
