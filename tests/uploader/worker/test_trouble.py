"""What goes wrong with a record, a thread or the disk costs what it concerns, and is counted."""

from typing import Any

import pytest

from tests.uploader.worker.doubles import TIMEOUT_S, Bench, Broken, FakeDelivery, hold, lines_of, until
from uploader.limits import MAX_LINE_BYTES
from uploader.models import LineFormat
from uploader.sealing import Sealer
from uploader.spool.batches import Folder, SpooledBatch
from uploader.worker.counts import Counts
from uploader.worker.encoding import ESCAPED, TOO_LONG, UNWRITABLE
from uploader.worker.events import ThreadRestarted


def test_a_record_that_cannot_be_written_costs_itself(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"{}", Broken(ValueError("no")), object(), b"two\nlines", b"[]"])
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts == Counts(submitted=5, spooled=2, rejected=3, rejected_reasons={UNWRITABLE: 3})
    assert lines_of(bench) == [b"{}", b"[]"]
    assert [(line, reason.partition(":")[0]) for _, line, reason in bench.disk.lines] == [
        (b'{"begun":', "record 2 (index 1)"),
        (b"", "record 3 (index 2)"),
        (b"two\nlines", "record 4 (index 3)"),
    ]
    bench.worker.close(0)
    assert [record.getMessage()[:22] for record in caplog.records] == [
        "1 record set aside: re",
        "2 more records set asi",
    ]


def test_a_line_that_is_too_long_costs_itself() -> None:
    bench = Bench(deal=hold)
    chunk = b"1" * 2**20

    class Long:
        def iter_json(self) -> Any:
            return iter([chunk] * (MAX_LINE_BYTES // 2**20) + [b"1"])

    bench.worker.submit([b"{}", Long(), b"[]"])
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts.rejected_reasons == {TOO_LONG: 1}
    assert len(bench.disk.lines[0][1]) == MAX_LINE_BYTES + 1
    assert lines_of(bench) == [b"{}", b"[]"]


def test_what_cannot_be_prepared_is_set_aside() -> None:
    def prepare(record: Any) -> Any:
        return record["a"]

    bench = Bench(prepare=prepare)
    bench.worker.submit([{"b": 1}, {"a": {}}])
    assert bench.worker.flush(TIMEOUT_S)
    assert (bench.counts.stored, bench.counts.rejected_reasons) == (1, {UNWRITABLE: 1})


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_what_escapes_the_encoder_restarts_it_and_sets_the_record_aside(error: BaseException) -> None:
    bench = Bench(deal=hold)
    bench.worker.submit([b"1", Broken(error), b"2", Broken(error), b"3"])
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts == Counts(submitted=5, spooled=3, rejected=2, rejected_reasons={ESCAPED: 2})
    assert lines_of(bench) == [b"1", b"2", b"3"]
    assert bench.worker.stats.restarts == 2
    assert [(line, type(error).__name__ in reason) for _, line, reason in bench.disk.lines] == [(b"", True)] * 2
    bench.worker.close(0)
    assert [event.error for event in bench.events if isinstance(event, ThreadRestarted)] == [error] * 2


class FailingSealer(Sealer):
    """Fails on one line, once it has taken it."""

    def __init__(self) -> None:
        super().__init__(recoverable=True)

    def add(self, pieces: Any, size: int, line_number: int) -> bool:
        added = super().add(pieces, size, line_number)
        if pieces[0] == b"bad":
            raise MemoryError
        return added


def test_what_escapes_the_compressor_restarts_it_and_sets_the_record_aside() -> None:
    bench = Bench(deal=hold, new_sealer=FailingSealer)
    bench.worker.submit([b"1", b"bad", b"2"])
    bench.worker.submit([b"t"], LineFormat.TRACE)
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts == Counts(submitted=4, spooled=3, rejected=1, rejected_reasons={ESCAPED: 1})
    assert (lines_of(bench), lines_of(bench, LineFormat.TRACE)) == ([b"1", b"2"], [b"t"])
    assert bench.disk.lines == [(LineFormat.EPISODE, b"bad\n", "MemoryError: ")]
    assert bench.worker.stats.restarts == 2


def test_an_offer_that_fails_leaves_the_batch_on_disk() -> None:
    def deal(delivery: FakeDelivery, folder: Folder, spooled: SpooledBatch) -> None:
        if spooled.seq == 1:
            raise RuntimeError("a bug")
        delivery.store(folder, spooled)

    bench = Bench(deal=deal)
    bench.worker.submit([b"{}"])
    assert bench.worker.flush(TIMEOUT_S)
    bench.worker.submit([b"[]"])
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts == Counts(submitted=2, spooled=1, stored=1)


def test_while_the_disk_is_full_the_pace_of_sending_is_the_bound() -> None:
    bench = Bench(deal=hold, memory=2, new_sealer=lambda: Sealer(max_lines=1))
    bench.disk.max_batches = 0
    bench.worker.submit([b"{}"] * 6)
    until(lambda: (bench.counts.spooled, bench.counts.encoding) == (2, 4))
    asked = len(bench.memory.all)
    for folder, spooled in list(bench.delivery.offered):
        bench.delivery.store(folder, spooled)
    until(lambda: (bench.counts.spooled, bench.counts.encoding, bench.counts.stored) == (2, 2, 2))
    assert (asked, len(bench.memory.all)) == (2, 4)
    bench.disk.max_batches = 1000
    until(lambda: bench.counts.spooled == 4)
    assert len(bench.disk.all) == 2
    assert bench.worker.flush(0.2) is False  # what is in memory is neither on disk nor stored
