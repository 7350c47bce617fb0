"""The worker's threads together: what is submitted comes out sealed, counted, in order, and nobody waits."""

import asyncio
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from encoder.synthetic import synthetic_episode
from tests.uploader.worker.doubles import TIMEOUT_S, Bench, Broken, Gated, hold, lines_of, until
from uploader.errors import ConfigurationError, SpoolError
from uploader.limits import CHUNK_BYTES, WORKER_CHUNK_BYTES
from uploader.models import LineFormat
from uploader.sealing import Sealer
from uploader.spool.memory import MemoryFolder
from uploader.worker import beginning, starting
from uploader.worker.counts import Counts
from uploader.worker.events import Dropped, Spooled, Stored
from uploader.worker.intake import TOO_MANY_RECORDS
from uploader.worker.settings import WorkerSettings
from uploader.worker.supervision import Supervised


def test_records_are_sealed_spooled_and_stored() -> None:
    bench = Bench()
    assert bench.worker.submit([b'{"a":1}', {"b": 2}])
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.disk.syncs == 1
    (_, spooled), *others = bench.delivery.offered
    assert not others
    assert (spooled.batch.num_lines, spooled.batch.first_line_number) == (2, 1)
    assert bench.counts == Counts(submitted=2, stored=2)
    report = bench.worker.close(TIMEOUT_S)
    assert report.is_complete
    assert bench.delivery.stopped
    assert bench.disk.closed.is_set()
    assert [type(event) for event in bench.events] == [Spooled, Stored]


def test_order_within_a_kind_is_kept_and_kinds_share_no_batch() -> None:
    bench = Bench(deal=hold, new_sealer=lambda: Sealer(target_batch_bytes=60))
    for number in range(40):
        bench.worker.submit([b'{"e":%d}' % number])
        bench.worker.submit([b'{"t":%d}' % number, b'{"t2":%d}' % number], LineFormat.TRACE)
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [b'{"e":%d}' % number for number in range(40)]
    traces = [line for number in range(40) for line in (b'{"t":%d}' % number, b'{"t2":%d}' % number)]
    assert lines_of(bench, LineFormat.TRACE) == traces
    assert all(batch.batch.size <= 60 for batch in bench.disk.all)
    assert len(bench.disk.all) > 10
    assert bench.counts == Counts(submitted=120, spooled=120)
    firsts = [batch.batch.first_line_number for batch in bench.disk.all if batch.line_format is LineFormat.TRACE]
    assert firsts[0] == 1
    assert firsts == sorted(set(firsts))


def test_the_pieces_of_an_episode_make_its_bytes() -> None:
    bench = Bench(deal=hold)
    episode = synthetic_episode(1, num_nodes=30)
    bench.worker.submit([episode])
    bench.worker.submit(episode.traces, LineFormat.TRACE)
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [episode.to_json()]
    assert lines_of(bench, LineFormat.TRACE) == [trace.to_json() for trace in episode.traces]


def test_a_batch_that_is_not_full_goes_out_after_a_short_while() -> None:
    bench = Bench()
    bench.worker.submit([b"{}"])
    until(lambda: bench.counts.stored == 1)
    assert bench.disk.syncs == 0


def test_what_is_prepared_is_encoded_in_the_record_s_place() -> None:
    bench = Bench(deal=hold, prepare=lambda record: {**record, "run": "r"})
    mine = {"a": 1}
    bench.worker.submit([mine])
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [b'{"a":1,"run":"r"}']
    assert mine == {"a": 1}


def test_a_full_queue_refuses_at_once_from_eight_threads_and_a_coroutine() -> None:
    bench = Bench(max_queued_records=3)
    gated = Gated()
    assert bench.worker.submit([gated])
    assert gated.reached.wait(TIMEOUT_S)
    assert bench.worker.submit([b"{}"] * 3)
    answers: list[bool] = []

    def submit() -> None:
        answers.extend(bench.worker.submit([b"{}", b"{}"]) for _ in range(200))

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)

    async def coroutine() -> bool:
        return bench.worker.submit([b"{}"])

    answers.append(asyncio.run(coroutine()))
    assert answers == [False] * 1601
    counts = bench.counts
    assert (counts.queued, counts.encoding, counts.dropped) == (3, 1, 3201)
    assert counts.dropped_reasons == {TOO_MANY_RECORDS: 3201}
    assert counts.total == counts.submitted
    gated.gate.set()
    assert bench.worker.flush(TIMEOUT_S)
    assert bench.counts.stored == 4
    bench.worker.close(TIMEOUT_S)
    assert sum(event.records for event in bench.events if isinstance(event, Dropped)) == 3201


def test_a_flush_is_not_overtaken() -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    bench.worker.submit([b"{}", gated])
    answers: list[bool] = []
    flusher = threading.Thread(target=lambda: answers.append(bench.worker.flush(TIMEOUT_S)))
    flusher.start()
    assert gated.reached.wait(TIMEOUT_S)
    until(lambda: len(bench.worker._engine.intake._items) == 1)
    bench.worker.submit([b"[]"] * 5)
    assert not bench.worker.flush(0)
    assert (answers, bench.disk.syncs) == ([], 0)
    synced: list[int] = []
    bench.disk.sync = lambda: synced.append(sum(b.batch.num_lines for b in bench.disk.all))  # type: ignore[method-assign]
    gated.gate.set()
    flusher.join(TIMEOUT_S)
    assert answers == [True]
    assert synced[0] == 2


def test_a_flush_that_cannot_sync_says_so() -> None:
    bench = Bench()
    bench.disk.sync_error = SpoolError("here", "gone")
    bench.worker.submit([b"{}"])
    assert not bench.worker.flush(TIMEOUT_S)


def test_without_a_spool_a_flush_waits_until_all_is_stored() -> None:
    bench = Bench(spool=False, deal=hold)
    bench.worker.submit([b"{}"])
    assert not bench.worker.flush(0.5)
    assert bench.counts.spooled == 1
    ((folder, spooled),) = bench.delivery.offered
    bench.delivery.store(folder, spooled)
    assert bench.worker.flush(TIMEOUT_S)


def test_a_worker_without_records_has_no_threads() -> None:
    bench = Bench()
    before = set(threading.enumerate())
    assert bench.worker.flush(0)
    assert not bench.delivery.started.is_set()
    assert bench.worker.close(0).is_complete
    assert {thread.name for thread in set(threading.enumerate()) - before} <= {"uploader close"}
    assert bench.disk.closed.is_set()


def test_the_counts_add_up_for_whoever_looks_meanwhile() -> None:
    bench = Bench(new_sealer=lambda: Sealer(target_batch_bytes=100), max_queued_records=50)
    done = threading.Event()
    wrong: list[Counts] = []
    looks = 0

    def look() -> None:
        nonlocal looks
        while not done.is_set():
            counts = bench.counts
            looks += 1
            if counts.total != counts.submitted or min(counts.queued, counts.encoding, counts.spooled) < 0:
                wrong.append(counts)

    def produce() -> None:
        for number in range(300):
            bench.worker.submit([{"n": number}, Broken(ValueError("no"))] if not number % 50 else [b"{}"] * 3)

    watcher = threading.Thread(target=look)
    producers = [threading.Thread(target=produce) for _ in range(4)]
    for thread in (watcher, *producers):
        thread.start()
    for thread in producers:
        thread.join(TIMEOUT_S)
    assert bench.worker.flush(TIMEOUT_S)
    done.set()
    watcher.join(TIMEOUT_S)
    counts = bench.counts
    assert not wrong
    assert looks
    assert counts.submitted == 4 * (6 * 2 + 294 * 3)
    assert counts.stored + counts.dropped + counts.rejected == counts.submitted


def test_what_the_sinks_say_is_in_the_stats() -> None:
    bench = Bench()
    bench.worker.submit([b'{"a":1}'])
    assert bench.worker.flush(TIMEOUT_S)
    stats = bench.worker.stats
    assert [sink.name for sink in stats.sinks] == ["traces"]
    assert (stats.concurrency, stats.retries) == (8, 0)
    assert stats.encoded_bytes == len(b'{"a":1}\n')
    assert stats.sent_bytes == stats.sealed_bytes > 0
    assert stats.sent_bytes_per_s > 0
    assert (stats.kept_bytes, stats.queued_bytes, stats.oldest_queued_age_s) == (0, 0, 0.0)
    assert (stats.submitted, stats.stored, stats.dropped, stats.rejected) == (1, 1, 0, 0)


@pytest.mark.parametrize("records", [b"{}", "text", {"a": 1}, synthetic_episode(1, num_nodes=1)])
def test_a_single_record_is_no_sequence(records: Any) -> None:
    with pytest.raises(TypeError, match="give \\[record\\]"):
        Bench().worker.submit(records)


def test_the_caller_may_go_on_with_its_list() -> None:
    bench = Bench(deal=hold)
    gated = Gated()
    records: list[Any] = [gated, b"1", b"2"]
    bench.worker.submit(records)
    records.clear()
    gated.gate.set()
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [b"{}", b"1", b"2"]


def test_threads_that_cannot_be_started_are_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench()
    outcomes = iter([False, True, False, False, True])
    start = Supervised.start

    def failing(thread: Supervised) -> None:
        if not next(outcomes, True):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr("uploader.worker.starting._AGAIN_S", 0.0)
    monkeypatch.setattr("uploader.worker.starting._AT_ONCE", False)
    monkeypatch.setattr(Supervised, "start", failing)
    assert bench.worker.submit([b"{}"])
    assert bench.worker.flush(TIMEOUT_S)
    assert next(outcomes, None) is None
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_where_no_thread_starts_late_all_run_once_a_record_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uploader.worker.starting._AT_ONCE", True)
    bench = Bench(deal=hold)
    started: list[str] = []
    start = threading.Thread.start

    def noting(thread: threading.Thread) -> None:
        start(thread)
        started.append(thread.name)

    monkeypatch.setattr(threading.Thread, "start", noting)
    assert bench.worker.submit([b"1"])
    engine = bench.worker._engine
    assert started == [thread.name for thread in (*engine.threads, engine.reporting.thread)]
    assert bench.delivery.started.is_set()
    assert bench.worker.flush(TIMEOUT_S)
    assert lines_of(bench) == [b"1"]


@pytest.mark.parametrize("at_once", [False, True])
def test_a_worker_whose_threads_cannot_be_started_says_what_was_lost(
    at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr("uploader.worker.starting._AT_ONCE", at_once)
    bench = Bench()
    monkeypatch.setattr(threading.Thread, "start", failing)
    monkeypatch.setattr("_thread.start_new_thread", failing)
    assert bench.worker.submit([b"{}"])
    assert not bench.worker.flush(TIMEOUT_S)
    assert bench.worker.close(TIMEOUT_S).stats.counts.dropped == 1


@pytest.mark.parametrize("end", ["flush", "close"])
def test_what_another_thread_is_just_starting_is_waited_for(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_soon, begins, goes_on = starting.start_soon, threading.Event(), threading.Event()

    def slowly(*starts: Callable[[], object]) -> None:
        begins.set()
        assert goes_on.wait(TIMEOUT_S)
        start_soon(*starts)

    monkeypatch.setattr(beginning, "start_soon", slowly)
    bench = Bench()
    first = threading.Thread(target=bench.worker.submit, args=([b"1"],))
    first.start()
    assert begins.wait(TIMEOUT_S)
    later = threading.Timer(0.05, goes_on.set)
    later.start()
    assert bench.worker.submit([b"2"])
    if end == "flush":
        assert bench.worker.flush(TIMEOUT_S)
    assert bench.worker.close(TIMEOUT_S).stats.counts == Counts(submitted=2, stored=2)
    first.join()
    later.join()


def test_settings_that_cannot_be_used() -> None:
    for option in ("max_queued_records", "max_queued_bytes", "max_in_flight"):
        unusable: dict[str, Any] = {option: 0}
        with pytest.raises(ConfigurationError, match=option):
            Bench(**unusable)


def test_a_closed_worker_refuses() -> None:
    bench = Bench()
    bench.worker.submit([b"{}"])
    first = bench.worker.close(TIMEOUT_S)
    assert not bench.worker.submit([b"{}"])
    assert not bench.worker.flush(0)
    assert bench.worker.close(0) == first
    assert bench.counts == Counts(submitted=1, stored=1)


def test_a_record_that_nobody_else_holds_is_let_go() -> None:
    bench = Bench()
    gone = threading.Event()
    episode = synthetic_episode(1, num_nodes=3)
    weakref.finalize(episode.traces[0].nodes[0], gone.set)
    bench.worker.submit([episode])
    del episode
    assert bench.worker.flush(TIMEOUT_S)
    assert gone.wait(TIMEOUT_S)


def test_the_compressor_gets_two_megabytes_at_once() -> None:
    def nowhere() -> MemoryFolder:
        return MemoryFolder("run", (), max_batches=1)

    settings = WorkerSettings(sinks=(), new_delivery=None, open_folder=None, new_memory=nowhere, run_id="run")
    sealer, piece = settings.new_sealer(), b"1" * CHUNK_BYTES
    pieces = WORKER_CHUNK_BYTES // CHUNK_BYTES
    assert not any(sealer.add([piece], len(piece), number) for number in range(1, pieces))
    assert sealer.add([piece], len(piece), pieces)
    assert len(list(sealer.work())) == 1
