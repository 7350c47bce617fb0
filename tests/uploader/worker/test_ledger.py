"""Every record is in one state, whatever is reported in whatever order."""

import threading
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from tests.uploader.worker.handles import spooled
from uploader.spool.batches import SpooledBatch
from uploader.worker.counts import Counts, EarlierCounts
from uploader.worker.ledger import Ledger

FEW = st.integers(1, 4)


class LedgerMachine(RuleBasedStateMachine):
    """The ledger beside one name for each record's state."""

    batches = Bundle("batches")

    @initialize()
    def begin(self) -> None:
        self.ledger = Ledger()
        self.records: dict[int, str] = {}
        self.of_batch: dict[int, list[int]] = {}
        self.handles: dict[int, SpooledBatch] = {}
        self.sending: dict[int, int] = {}
        self.earlier: set[int] = set()
        self.frozen: Counts | None = None
        self.seq = 0

    def new(self, count: int, state: str, *, earlier: bool = False) -> list[int]:
        made = list(range(len(self.records), len(self.records) + count))
        self.records.update(dict.fromkeys(made, state))
        if earlier:
            self.earlier.update(made)
        return made

    def some(self, state: str, count: int) -> list[int]:
        return [record for record, its in self.records.items() if its == state and record not in self.earlier][:count]

    def move(self, records: list[int], state: str) -> None:
        if self.frozen is None:
            self.records.update(dict.fromkeys(records, state))

    def handle(self, records: list[int], *, on_disk: bool) -> int:
        self.seq += 1
        self.handles[self.seq] = spooled(self.seq, len(records), on_disk=on_disk)
        self.of_batch[self.seq] = records
        self.sending[self.seq] = 0
        return self.seq

    @rule(count=FEW)
    def admit(self, count: int) -> None:
        if self.frozen is None:
            self.ledger.admit(count)
            self.new(count, "queued")

    @rule(count=FEW)
    def refuse(self, count: int) -> None:
        self.ledger.refuse(count, "full")
        if self.frozen is None:
            self.new(count, "dropped")

    @rule()
    def take(self) -> None:
        if some := self.some("queued", 1):
            self.ledger.take()
            self.move(some, "encoding")

    @rule(count=FEW)
    def reject(self, count: int) -> None:
        if some := self.some("encoding", count):
            assert self.ledger.reject(len(some), "bad") is (self.frozen is None)
            self.move(some, "rejected")

    @rule(target=batches, count=FEW, on_disk=st.booleans())
    def spool(self, count: int, on_disk: bool) -> object:
        some = self.some("encoding", count)
        if not some:
            return multiple()
        batch = self.handle(some, on_disk=on_disk)
        assert self.ledger.spool(self.handles[batch]) is (self.frozen is None)
        self.move(some, "spooled")
        return batch

    @rule(target=batches, count=FEW)
    def adopt(self, count: int) -> object:
        if self.frozen is not None:
            return multiple()
        batch = self.handle(self.new(count, "spooled", earlier=True), on_disk=True)
        assert self.ledger.adopt(self.handles[batch])
        assert not self.ledger.adopt(self.handles[batch])
        return batch

    @rule(batch=batches)
    def started(self, batch: int) -> None:
        self.ledger.started(self.handles[batch])
        if self.frozen is None and batch in self.of_batch:
            self.sending[batch] += 1
            self.move(self.of_batch[batch], "in_flight")

    @rule(batch=batches, receipt=st.booleans())
    def returned(self, batch: int, receipt: bool) -> None:
        if receipt:
            self.ledger.stored(self.handles[batch], False)
        else:
            self.ledger.returned(self.handles[batch])
        if self.frozen is None and batch in self.of_batch and self.sending[batch]:
            self.sending[batch] -= 1
            if not self.sending[batch]:
                self.move(self.of_batch[batch], "spooled")

    @rule(batch=batches)
    def stored(self, batch: int) -> None:
        self.ledger.stored(self.handles[batch], True)
        self.settle(batch, "stored")

    @rule(batch=batches)
    def set_aside(self, batch: int) -> None:
        known = self.frozen is None and batch in self.of_batch
        expected = len(self.of_batch[batch]) if known else 0
        assert self.ledger.set_aside(self.handles[batch], "refused") == expected
        self.settle(batch, "rejected")

    def settle(self, batch: int, state: str) -> None:
        if self.frozen is None and batch in self.of_batch:
            self.move(self.of_batch.pop(batch), state)

    @rule(target=batches, batch=consumes(batches), at=st.integers(1, 3))
    def divide(self, batch: int, at: int) -> object:
        whole = self.of_batch.get(batch)
        if whole is None or self.frozen is not None or len(whole) <= at:
            return multiple(batch)
        del self.of_batch[batch]
        on_disk = self.handles[batch].on_disk
        parts = [self.handle(part, on_disk=on_disk) for part in (whole[:at], whole[at:])]
        self.ledger.divided(self.handles[batch], [self.handles[part] for part in parts])
        self.move(whole, "spooled")
        return multiple(*parts)

    @rule()
    def freeze(self) -> None:
        if len(self.records) < 12:  # not at the very start of each example
            return
        on_disk = {
            record for batch, records in self.of_batch.items() if self.handles[batch].on_disk for record in records
        }
        for record, state in list(self.records.items()):
            if state in ("queued", "encoding"):
                self.move([record], "dropped")
            elif state in ("spooled", "in_flight"):
                self.move([record], "spooled" if record in on_disk else "dropped")
        self.frozen = self.ledger.freeze("no time")

    @invariant()
    def counts_are_exact(self) -> None:
        counts = self.ledger.counts()
        assert counts.total == counts.submitted
        own = [state for record, state in self.records.items() if record not in self.earlier]
        left = [self.records[record] for record in self.earlier]
        for state in ("queued", "encoding", "spooled", "in_flight", "stored", "dropped", "rejected"):
            assert getattr(counts, state) == own.count(state), state
        earlier = {state: left.count(state) for state in ("spooled", "in_flight", "stored", "rejected")}
        assert counts.earlier == EarlierCounts(**earlier)
        assert sum(counts.dropped_reasons.values()) == counts.dropped
        assert sum(counts.rejected_reasons.values()) == counts.rejected
        assert self.frozen is None or counts == self.frozen


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


def sealed(ledger: Ledger, *handles: SpooledBatch) -> None:
    for handle in handles:
        ledger.admit(handle.batch.num_lines)
        for _ in range(handle.batch.num_lines):
            ledger.take()
        assert ledger.spool(handle)


def test_the_same_number_in_another_folder_is_another_batch() -> None:
    ledger = Ledger()
    mine = spooled(1, 2)
    sealed(ledger, mine)
    ledger.adopt(replace(mine, created_at=1.0))
    ledger.stored(replace(mine, created_at=1.0), True)
    counts = ledger.counts()
    assert (counts.spooled, counts.stored, counts.earlier.stored) == (2, 0, 2)


def test_whoever_waits_for_memory_is_told_when_the_last_part_is_settled() -> None:
    ledger = Ledger()
    whole, on_disk, other = spooled(1, 4, on_disk=False), spooled(2, 1), spooled(3, 1, on_disk=False)
    sealed(ledger, whole, on_disk)
    told: list[bool] = []
    ledger.when_stored(told.append)
    sealed(ledger, other)  # came later: not waited for
    parts = [spooled(4, 3, on_disk=False), spooled(5, 1, on_disk=False)]
    ledger.divided(whole, parts)
    ledger.stored(parts[0], True)
    assert told == []
    ledger.set_aside(parts[1], "bad")
    assert told == [True]


def test_whoever_waits_for_memory_learns_that_it_was_given_up() -> None:
    ledger = Ledger()
    sealed(ledger, spooled(1, 4, on_disk=False))
    told: list[bool] = []
    ledger.when_stored(told.append)
    ledger.freeze("no time")
    assert told == [False]


def test_nothing_in_memory_means_at_once() -> None:
    ledger = Ledger()
    sealed(ledger, spooled(1, 1))
    told: list[bool] = []
    ledger.when_stored(told.append)
    assert told == [True]


def test_a_thread_may_move_inside_of_its_own_move() -> None:
    ledger = Ledger()
    with ledger.lock:  # as a signal handler that logs
        ledger.admit(2)
        ledger.refuse(1, "full")
    assert ledger.counts().total == 3


def test_counts_add_up_for_whoever_looks_while_others_work() -> None:
    ledger = Ledger()
    done = threading.Event()
    wrong: list[Counts] = []

    def look() -> None:
        while not done.is_set():
            counts = ledger.counts()
            if counts.total != counts.submitted:
                wrong.append(counts)

    def work(first: int) -> None:
        for seq in range(first, first + 300):
            handle = spooled(seq, 2)
            sealed(ledger, handle)
            ledger.started(handle)
            ledger.stored(handle, True)

    watcher = threading.Thread(target=look)
    workers = [threading.Thread(target=work, args=(1000 * number,)) for number in range(4)]
    for thread in (watcher, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    watcher.join()
    assert not wrong
    assert ledger.counts() == Counts(submitted=2400, stored=2400)
