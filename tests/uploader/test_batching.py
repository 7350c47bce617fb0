import asyncio
import gzip
import hashlib
import io
import threading
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar

import prime_traces.batching
import prime_traces.exceptions
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.batching import aseal_lines, aseal_records, seal_lines, seal_records
from uploader.errors import ConfigurationError, RecordError, TraceTooLargeError
from uploader.lines import file_lines

FACES = ["sync", "async of sync", "async of async"]
UNENDED = st.one_of(
    st.sampled_from([b"", b" \t\r", b"\x0b", b"\x85"]),
    st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")),
)
LINE = st.one_of(UNENDED.map(lambda line: line + b"\n"), st.binary(max_size=30).map(lambda data: data + b"\n"))
WELL_ENDED = st.builds(lambda lines, last: lines + last, st.lists(LINE, max_size=30), st.lists(UNENDED, max_size=1))
"""Lines that each end with their LF, which only the last may lack."""


async def as_async(items: Any) -> AsyncIterator[Any]:
    for item in items:
        yield item


class Face:
    """Collects the batches of a source in one of the ways there are; what was raised comes last."""

    def __init__(self, name: str) -> None:
        self.name = name

    def collect(self, sync_seal: Any, async_seal: Any, source: Any, **options: Any) -> Any:
        found: list[Any] = []
        try:
            if self.name == "sync":
                found.extend(iter_all(sync_seal(source, **options), found))
            else:
                async_source = as_async(source) if self.name == "async of async" else source
                asyncio.run(gather(async_seal(async_source, **options), found))
        except Exception as error:  # noqa: BLE001
            found.append(error)
        return found

    def lines(self, source: Any, **options: Any) -> Any:
        return self.collect(seal_lines, aseal_lines, source, **options)

    def records(self, source: Any, **options: Any) -> Any:
        return self.collect(seal_records, aseal_records, source, **options)


def iter_all(batches: Any, found: Any) -> Any:
    for batch in batches:
        found.append(batch)
    return ()


async def gather(batches: Any, found: Any) -> None:
    async for batch in batches:
        found.append(batch)


@pytest.fixture(params=FACES)
def face(request: Any) -> Any:
    return Face(request.param)


def threads_left() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("unstall-seal")]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[Any]:
    yield
    assert not threads_left()


def body(sealed: Any) -> Any:
    data = b"".join(sealed.pieces)
    return gzip.decompress(data) if sealed.content_encoding else data


def facts(batches: Any) -> Any:
    return [(each.digest, each.num_lines, each.first_line_number, each.size) for each in batches]


@pytest.mark.parametrize("name", FACES)
@given(lines=WELL_ENDED, target=st.integers(1, 100), max_lines=st.integers(1, 10), limit=st.integers(1, 40))
def test_batches_are_those_of_the_public_client(
    name: str, lines: list[bytes], target: int, max_lines: int, limit: int
) -> None:
    theirs: list[prime_traces.batching.Batch] = []
    failure = None
    try:
        theirs.extend(
            prime_traces.batching.iter_batches(lines, target_bytes=target, max_lines=max_lines, max_line_bytes=limit)
        )
    except prime_traces.exceptions.TraceTooLargeError as error:
        failure = error
    ours = Face(name).lines(lines, target_batch_bytes=target, max_lines=max_lines, max_line_bytes=limit, compress=False)
    if failure is not None:
        ours_failure = ours.pop()
        assert isinstance(ours_failure, TraceTooLargeError)
        assert vars(ours_failure) == {key: getattr(failure, key) for key in ("line_number", "size", "limit")}
    assert facts(sealed.batch for sealed in ours) == facts(theirs)
    assert [body(sealed) for sealed in ours] == [batch.data for batch in theirs]


def obvious_batches(lines: list[bytes], target: int, max_lines: int) -> list[bytes]:
    """What the batches must hold: whole lines parted by LFs, the last one of each as it was given."""
    batches: list[list[bytes]] = []
    for line in lines:
        if not line.strip(b" \t\r\n\x0b\x0c"):
            continue
        longer = [*(each.removesuffix(b"\n") + b"\n" for each in batches[-1]), line] if batches else []
        if batches and len(longer) <= max_lines and sum(map(len, longer)) <= target:
            batches[-1] = longer
        else:
            batches.append([line])
    return [b"".join(batch) for batch in batches]


@pytest.mark.parametrize("name", FACES)
@given(lines=st.lists(st.one_of(UNENDED, LINE), max_size=30), target=st.integers(1, 100), max_lines=st.integers(1, 10))
def test_lines_never_run_together(name: str, lines: list[bytes], target: int, max_lines: int) -> None:
    ours = Face(name).lines(lines, target_batch_bytes=target, max_lines=max_lines, compress=False)
    assert [body(sealed) for sealed in ours] == obvious_batches(lines, target, max_lines)
    for sealed in ours:
        assert sealed.batch.size == len(body(sealed))
        assert sealed.batch.digest == hashlib.sha256(body(sealed)).hexdigest()


def test_line_without_its_end_gets_it_when_another_follows_in_the_batch(face: Face) -> None:
    (sealed,) = face.lines([b"{}", b"[]"])
    assert (body(sealed), sealed.batch.num_lines, sealed.batch.size) == (b"{}\n[]", 2, 5)
    assert [body(each) for each in face.lines([b"{}", b"[]", b"1"], target_batch_bytes=4)] == [b"{}", b"[]\n1"]


@pytest.mark.parametrize("compress", [False, True, 6])
def test_real_file_makes_the_batches_of_the_public_client(face: Face, trajectories_path: Path, compress: Any) -> None:
    target = 1_000_000
    theirs = list(
        prime_traces.batching.iter_batches(
            prime_traces.batching.read_jsonl_lines(trajectories_path), target_bytes=target
        )
    )
    ours = face.lines(file_lines(trajectories_path), target_batch_bytes=target, compress=compress)
    assert facts(sealed.batch for sealed in ours) == facts(theirs)
    assert [body(sealed) for sealed in ours] == [batch.data for batch in theirs]


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers(0, 9), max_size=5)), st.integers(1, 50))
def test_records_make_the_same_batches_whichever_way(records: Any, target: int) -> None:
    one, two, three = (
        [sealed.batch for sealed in Face(name).records(records, target_batch_bytes=target)] for name in FACES
    )
    assert one == two == three
    assert sum(batch.num_lines for batch in one) == len(records)


def test_line_larger_than_the_target_is_a_batch_by_itself(face: Face) -> None:
    batches = face.lines([b"1\n", b"2" * 50 + b"\n", b"3\n"], target_batch_bytes=10)
    assert [body(sealed) for sealed in batches] == [b"1\n", b"2" * 50 + b"\n", b"3\n"]


def test_nothing_makes_no_batch(face: Face) -> None:
    assert face.lines([]) == face.records([]) == face.lines([b"\n", b" "]) == []


def test_options_are_checked_at_once() -> None:
    for seal in (seal_lines, seal_records, aseal_lines, aseal_records):
        with pytest.raises(ConfigurationError):
            seal([], compress=11)
        with pytest.raises(ConfigurationError):
            seal([], target_batch_bytes=0)


def test_full_batches_come_before_the_error_and_the_open_one_is_not_given(face: Face) -> None:
    found = face.lines([b"1\n", b"\n", b"2\n", b"3\n", "4\n", b"5\n"], target_batch_bytes=2)
    assert [body(sealed) for sealed in found[:-1]] == [b"1\n", b"2\n"]
    assert isinstance(found[-1], RecordError)
    assert found[-1].line_number == 5


def test_full_batches_come_before_the_error_of_the_source(face: Face) -> None:
    def source() -> Iterator[Any]:
        yield from (b"1\n", b"2\n", b"3\n")
        raise OSError("the disk is gone")

    found = face.lines(source(), target_batch_bytes=2)
    assert [body(sealed) for sealed in found[:-1]] == [b"1\n", b"2\n"]
    assert isinstance(found[-1], OSError)


def test_failing_record_stops_the_rest_unless_somebody_is_told(face: Face) -> None:
    records = [{"a": 1}, {"a": object()}, b"too long for this", {"a": 2}]
    found = face.records(records, max_line_bytes=10)
    assert [type(each) for each in found] == [RecordError]
    assert found[0].index == 1

    told: list[RecordError | TraceTooLargeError] = []
    (sealed,) = face.records(records, max_line_bytes=10, on_error=told.append)
    assert body(sealed) == b'{"a":1}\n{"a":2}\n'
    assert [(type(error), error.line_number) for error in told] == [(RecordError, 2), (TraceTooLargeError, 3)]


def test_source_is_pulled_lazily_and_closed() -> None:
    pulled = []
    closed = []

    def source() -> Iterator[Any]:
        try:
            for number in range(100):
                pulled.append(number)
                yield b"%d\n" % number
        finally:
            closed.append(True)

    batches = seal_lines(source(), target_batch_bytes=2)
    assert pulled == []
    assert body(next(batches)) == b"0\n"
    assert pulled == [0, 1]
    batches.close()
    assert closed == [True]


def test_uncompressed_batch_never_exists() -> None:
    def records() -> Iterator[bytes]:
        for number in range(28):
            yield b"%d" % number * 500_000

    batches = seal_records(records())
    tracemalloc.start()
    try:
        (sealed,) = batches
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sealed.batch.size > 20_000_000
    assert peak < 6_000_000


def test_file_that_was_given_stays_open() -> None:
    file = io.BytesIO(b"1\n2\n")
    assert [body(sealed) for sealed in seal_lines(file)] == [b"1\n2\n"]
    assert not file.closed


class Recorded:
    """A record that notes which thread encodes it."""

    threads: ClassVar[set[int]] = set()

    def iter_json(self) -> Iterator[Any]:
        self.threads.add(threading.get_ident())
        yield b"{}"


@pytest.mark.parametrize("wrap", [list, as_async], ids=["sync source", "async source"])
async def test_event_loop_never_encodes_hashes_or_compresses(wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()
    real = hashlib.sha256

    class Spy:
        def __init__(self) -> None:
            self.real = real()
            self.hexdigest = self.real.hexdigest

        def update(self, chunk: bytes) -> None:
            threads.add(threading.get_ident())
            self.real.update(chunk)

    monkeypatch.setattr("uploader.sealing.hashlib.sha256", Spy)
    Recorded.threads.clear()
    batches = [each async for each in aseal_records(wrap([Recorded()] * 3), target_batch_bytes=3)]
    assert len(batches) == 3
    for seen in (threads, Recorded.threads):
        assert len(seen) == 1
        assert threading.get_ident() not in seen


async def test_sync_source_is_pulled_off_the_loop_and_async_source_on_it() -> None:
    threads = []

    def source() -> Iterator[Any]:
        threads.append(threading.get_ident())
        yield b"1\n"

    async def async_source() -> AsyncIterator[Any]:
        threads.append(threading.get_ident())
        yield b"1\n"

    async for _ in aseal_lines(source()):
        pass
    async for _ in aseal_lines(async_source()):
        pass
    assert threads[0] != threading.get_ident()
    assert threads[1] == threading.get_ident()


async def test_async_source_is_pulled_lazily_and_closed() -> None:
    pulled = []
    closed = []

    async def source() -> AsyncIterator[Any]:
        try:
            for number in range(100):
                pulled.append(number)
                yield b"%d\n" % number
        finally:
            closed.append(True)

    batches = aseal_lines(source(), target_batch_bytes=2)
    assert body(await anext(batches)) == b"0\n"
    assert len(pulled) < 5
    await batches.aclose()
    assert closed == [True]


async def test_closing_early_closes_a_sync_source() -> None:
    closed = []

    def source() -> Iterator[Any]:
        try:
            while True:
                yield b"1\n"
        finally:
            closed.append(threading.get_ident())

    batches = aseal_lines(source(), target_batch_bytes=2)
    await anext(batches)
    await batches.aclose()
    assert len(closed) == 1
    assert closed[0] != threading.get_ident()


async def test_cancelling_stops_an_endless_batch_and_closes_the_source() -> None:
    started = threading.Event()
    closed = []

    def source() -> Iterator[Any]:
        try:
            while True:
                started.set()
                yield b"\n"  # blank: no batch ever closes
        finally:
            closed.append(True)

    async def use() -> None:
        async for _ in aseal_lines(source()):
            raise AssertionError

    task = asyncio.create_task(use())
    while not started.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while threads_left():  # the loop's hook closes the abandoned generator
        await asyncio.sleep(0.001)
    assert closed == [True]


async def test_cancelling_closes_an_async_source_that_waits() -> None:
    waiting = asyncio.Event()
    closed = []

    async def source() -> AsyncIterator[Any]:
        try:
            yield b"1\n"
            waiting.set()
            await asyncio.sleep(3600)
        finally:
            closed.append(True)

    async def use() -> None:
        async for _ in aseal_lines(source()):
            raise AssertionError

    task = asyncio.create_task(use())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [True]


def test_loop_that_ends_with_a_generator_open_closes_the_source() -> None:
    closed = []
    kept: list[Any] = []

    def source() -> Iterator[Any]:
        try:
            while True:
                yield b"1\n"
        finally:
            closed.append(True)

    async def main() -> None:
        kept.append(aseal_lines(source(), target_batch_bytes=2))
        await anext(kept[0])

    asyncio.run(main())
    assert closed == [True]
