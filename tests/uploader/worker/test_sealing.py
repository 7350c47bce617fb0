"""Whatever escapes the compressor's thread, no line is lost and none is doubled. Without threads: it is driven here."""

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.uploader.worker.doubles import FakeFolder
from uploader.models import LineFormat
from uploader.sealing import SealedBatch, Sealer
from uploader.worker.barriers import Barrier
from uploader.worker.encoding import ESCAPED
from uploader.worker.events import Rejected, Spooled, ThreadRestarted
from uploader.worker.handover import Handover, Line
from uploader.worker.intake import Intake
from uploader.worker.keeping import Keeper
from uploader.worker.ledger import Ledger
from uploader.worker.sealing import Sealing

EPISODE, TRACE = LineFormat.EPISODE, LineFormat.TRACE

Fails = Callable[[str, bytes], bool]
"""Told a step and the bytes that it is about; whether to fail there."""


class FailingSealer(Sealer):
    def __init__(self, fails: Fails, late: bool, **options: Any) -> None:
        super().__init__(**{"recoverable": True, "chunk_bytes": 64, **options})
        self.fails, self.late = fails, late

    def _step(self, name: str, about: bytes, work: Callable[[], Any]) -> Any:
        fails = self.fails(name, about)
        if fails and not self.late:
            raise MemoryError(name)
        result = work()
        if fails:
            raise MemoryError(name)
        return result

    def add(self, pieces: Any, size: int, line_number: int) -> bool:
        add = super().add
        added: bool = self._step("add", b"".join(pieces), lambda: add(pieces, size, line_number))
        return added

    def _process_chunk(self) -> None:
        self._step("compress", b"".join(map(bytes, [*self._taken, *self._waiting])), super()._process_chunk)

    def seal(self) -> SealedBatch:
        if self.fails("seal", b""):
            self.finish_work()
            self._compressor.finish()
            raise MemoryError("seal")
        return super().seal()


class Driver:
    """A compressor's thread without a thread, and all around it."""

    def __init__(self, fails: Fails = lambda name, about: False, late: bool = False, **options: Any) -> None:
        self.disk = FakeFolder()
        self.events: list[Any] = []
        self.offered: list[Any] = []
        self.ledger = Ledger()
        self.handover = Handover()
        self.submitted = 0
        self.tell_fails = 0
        self.sealing = Sealing(
            self.handover,
            self.ledger,
            Keeper(None, self.disk, self.events.append, self.events.append),
            lambda folder, spooled: self.offered.append(spooled),
            self.tell,
            lambda: False,
            lambda: FailingSealer(fails, late, **options),
        )

    def tell(self, event: Any) -> None:
        self.events.append(event)
        if isinstance(event, Spooled) and self.tell_fails:
            self.tell_fails -= 1
            raise RuntimeError("a bug")

    def put(self, lines: list[bytes], line_format: LineFormat = EPISODE) -> None:
        intake = Intake(self.ledger, 1000, 10**9)
        assert intake.put(lines, line_format, None) is None
        for line in lines:
            intake.take(0)
            self.submitted += 1
            half = len(line) // 2
            pieces = [piece for piece in (line[:half], line[half:], b"\n") if piece]
            self.handover.put(Line(line_format, pieces, len(line) + 1, self.submitted))

    def run(self, most: int = 200) -> int:
        """Until all is kept; how often something escaped."""
        self.handover.put_barrier(Barrier(is_last=True))
        for escapes in range(most):
            try:
                self.sealing.work()
            except (MemoryError, RuntimeError) as error:
                self.sealing.clean_up(error)
            else:
                return escapes
        raise AssertionError("it never ends")

    def kept(self, line_format: LineFormat = EPISODE) -> list[bytes]:
        batches = [self.disk.text(spooled) for spooled in self.disk.all if spooled.line_format is line_format]
        return b"".join(batches).splitlines()

    @property
    def aside(self) -> list[bytes]:
        return b"".join(line for _, line, _ in self.disk.lines).splitlines()


def once(*names: str) -> Fails:
    """Fail when these steps come for the first time, in this order."""
    left = list(names)

    def fails(name: str, about: bytes) -> bool:
        if left and left[0] == name:
            left.pop(0)
            return True
        return False

    return fails


LINES = [b"%02d" % number * 10 for number in range(12)]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", ["add", "compress", "seal"])
@pytest.mark.parametrize("compress", [True, 6, False])
def test_what_escapes_once_costs_nothing(step: str, late: bool, compress: Any) -> None:
    driver = Driver(once(step), late, compress=compress, target_batch_bytes=150)
    driver.put(LINES)
    driver.put([b"t"], TRACE)
    assert driver.run() == 1
    texts = [b"".join(driver.disk.kept[spooled.seq][1].pieces) for spooled in driver.disk.all]
    lines = b"".join(map(gzip.decompress, texts) if compress else texts).splitlines()
    assert lines == [*LINES, b"t"]
    assert driver.ledger.counts().spooled == len(LINES) + 1
    assert [type(event) for event in driver.events].count(ThreadRestarted) == 1
    firsts = [spooled.batch.first_line_number for spooled in driver.disk.all]
    assert firsts == [1, 8, 13]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", ["add", "compress"])
@pytest.mark.parametrize("bad", [LINES[0], LINES[5], LINES[-1]])
def test_the_line_on_which_it_fails_again_is_set_aside_with_its_bytes(step: str, late: bool, bad: bytes) -> None:
    driver = Driver(lambda name, about: name == step and bad in about, late)
    driver.put(LINES)
    assert driver.run() >= 2
    assert driver.kept() == [line for line in LINES if line != bad]
    assert driver.disk.lines == [(EPISODE, bad + b"\n", f"MemoryError: {step}")]
    assert driver.ledger.counts().rejected_reasons == {ESCAPED: 1}


def test_a_batch_that_cannot_be_sealed_is_set_aside_with_its_bytes() -> None:
    driver = Driver(once("seal", "seal"), target_batch_bytes=150)
    driver.put(LINES)
    assert driver.run() == 2
    assert driver.aside == LINES[:7]
    assert driver.kept() == LINES[7:]
    assert (driver.disk.num_lines, driver.ledger.counts().rejected) == (7, 7)
    assert [event.records for event in driver.events if isinstance(event, Rejected)] == [7]


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_batch_that_cannot_be_kept_is_tried_once_more_and_then_set_aside(failures: int) -> None:
    driver = Driver(target_batch_bytes=150)
    driver.disk.trouble += [RuntimeError("a bug")] * failures
    driver.put(LINES)
    assert driver.run() == failures
    assert driver.aside == (LINES[:7] if failures > 1 else [])
    assert driver.kept() == (LINES[7:] if failures > 1 else LINES)
    assert driver.disk.num_lines == len(driver.aside) == driver.ledger.counts().rejected


def test_a_batch_is_offered_though_nobody_could_be_told() -> None:
    driver = Driver()
    driver.tell_fails = 1
    driver.put(LINES)
    assert driver.run() == 1
    assert driver.offered == driver.disk.all
    assert driver.ledger.counts().spooled == len(LINES)


def test_lines_that_cannot_be_had_back_are_counted_and_named() -> None:
    fails = once("seal")
    driver = Driver(fails, recoverable=False)
    driver.put(LINES)
    assert driver.run() == 1
    assert (driver.kept(), driver.aside) == ([], [])
    assert (driver.disk.num_lines, driver.ledger.counts().rejected_reasons) == (12, {ESCAPED: 12})
    assert "what was compressed is not what was added" in driver.disk.lines[0][2]


@given(
    st.lists(st.tuples(st.binary(min_size=1, max_size=90).map(bytes.hex), st.booleans()), max_size=25),
    st.lists(st.integers(0, 12), max_size=12),
    st.booleans(),
    st.integers(1, 200),
)
def test_each_line_is_kept_or_set_aside_whatever_escapes_when(
    texts: list[tuple[str, bool]], gaps: list[int], late: bool, chunk_bytes: int
) -> None:
    waits = iter(gaps)
    left = [next(waits, -1)]

    def fails(name: str, about: bytes) -> bool:
        left[0] -= 1
        if left[0] == -1:
            left[0] = next(waits, -1)
            return True
        return False

    driver = Driver(fails, late, chunk_bytes=chunk_bytes, target_batch_bytes=300)
    lines: dict[LineFormat, list[bytes]] = {EPISODE: [], TRACE: []}
    for number, (text, is_trace) in enumerate(texts):
        line = b"%d:%s" % (number, text.encode())
        lines[TRACE if is_trace else EPISODE].append(line)
        driver.put([line], TRACE if is_trace else EPISODE)
    escapes = driver.run()
    assert escapes <= len(gaps)
    for line_format, its in lines.items():
        aside = [line for kind, text, _ in driver.disk.lines if kind is line_format for line in text.splitlines()]
        kept = driver.kept(line_format)
        assert kept == [line for line in its if line not in aside]
        assert sorted([*kept, *aside]) == sorted(its)
    counts = driver.ledger.counts()
    assert (counts.spooled + counts.rejected, counts.encoding) == (len(texts), 0)
