"""The sealed batches that are not settled yet, one by one, and how many records they hold in each state.

Nothing here locks: the ledger does.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from uploader.spool.batches import SpooledBatch

BatchKey: TypeAlias = tuple[bool, str, int, str, float]
"""What tells one sealed batch from all others, in whatever folder."""


def key_of(spooled: SpooledBatch) -> BatchKey:
    """The key of a batch: its number alone may come again in another folder of the same run."""
    return (spooled.on_disk, spooled.run_id, spooled.seq, spooled.batch.digest, spooled.created_at)


class Tally:
    """Records in sealed batches, by state."""

    __slots__ = ("in_flight", "rejected", "spooled", "stored")

    def __init__(self) -> None:
        self.spooled = self.in_flight = self.stored = self.rejected = 0


class _Watch:
    """Calls back once so many batches are settled."""

    __slots__ = ("callback", "missing")

    def __init__(self, callback: Callable[[bool], object], missing: int) -> None:
        self.callback = callback
        self.missing = missing


class _Batch:
    __slots__ = ("on_disk", "records", "sending", "tally", "watches")

    def __init__(self, records: int, on_disk: bool, tally: Tally, watches: Sequence[_Watch]) -> None:
        self.records = records
        self.on_disk = on_disk
        self.tally = tally
        self.watches = list(watches)
        self.sending = 0  # how many sinks send it now
        tally.spooled += records

    def start(self) -> None:
        self.sending += 1
        if self.sending == 1:
            self.tally.spooled -= self.records
            self.tally.in_flight += self.records

    def stop(self) -> None:
        self.sending -= 1
        if not self.sending:
            self.tally.in_flight -= self.records
            self.tally.spooled += self.records

    def leave(self) -> None:
        """Be in no state, before the next one."""
        while self.sending:
            self.stop()
        self.tally.spooled -= self.records


class Tracking:
    """Moves sealed batches between states. A report about a batch that is not known changes nothing.

    Attributes:
        own: the batches of this run.
        earlier: those that an earlier run left.
    """

    def __init__(self) -> None:
        self.own, self.earlier = Tally(), Tally()
        self._batches: dict[BatchKey, _Batch] = {}

    def add(self, spooled: SpooledBatch, tally: Tally) -> bool:
        """A batch waits; False if it is known already."""
        key = key_of(spooled)
        if key in self._batches:
            return False
        self._batches[key] = _Batch(spooled.batch.num_lines, spooled.on_disk, tally, ())
        return True

    def start(self, spooled: SpooledBatch) -> None:
        """One more sink sends it."""
        batch = self._batches.get(key_of(spooled))
        if batch is not None:
            batch.start()

    def stop(self, spooled: SpooledBatch) -> None:
        """One sink less sends it."""
        batch = self._batches.get(key_of(spooled))
        if batch is not None and batch.sending:
            batch.stop()

    def store(self, spooled: SpooledBatch) -> None:
        """Every sink has it."""
        batch = self._batches.pop(key_of(spooled), None)
        if batch is not None:
            batch.leave()
            batch.tally.stored += batch.records
            self._settle(batch)

    def reject(self, spooled: SpooledBatch) -> tuple[int, Tally] | None:
        """It is set aside; the number of its records and where they are counted."""
        batch = self._batches.pop(key_of(spooled), None)
        if batch is None:
            return None
        batch.leave()
        batch.tally.rejected += batch.records
        self._settle(batch)
        return batch.records, batch.tally

    def drop(self, spooled: SpooledBatch) -> int:
        """It is given up; how many records it holds."""
        batch = self._batches.pop(key_of(spooled), None)
        if batch is None:
            return 0
        batch.leave()
        self._settle(batch)
        return batch.records

    def divide(self, spooled: SpooledBatch, parts: Sequence[SpooledBatch]) -> None:
        """Its parts take its place: they hold the same records."""
        batch = self._batches.pop(key_of(spooled), None)
        if batch is None:
            return
        batch.leave()
        for part in parts:
            self._batches[key_of(part)] = _Batch(part.batch.num_lines, part.on_disk, batch.tally, batch.watches)
        for watch in batch.watches:
            watch.missing += len(parts) - 1

    def watch(self, callback: Callable[[bool], object]) -> None:
        """Call back once every batch of this run that is only in memory now is settled; at once if there is none."""
        waiting = [batch for batch in self._batches.values() if batch.tally is self.own and not batch.on_disk]
        if not waiting:
            callback(True)
            return
        watch = _Watch(callback, len(waiting))
        for batch in waiting:
            batch.watches.append(watch)

    def give_up(self) -> list[tuple[BatchKey, int]]:
        """Nothing is sent any more: the batches of this run that are on no disk leave; which, and their records."""
        lost: list[tuple[BatchKey, int]] = []
        for key, batch in list(self._batches.items()):
            while batch.sending:
                batch.stop()
            if not batch.on_disk:
                del self._batches[key]
                batch.leave()
                lost.append((key, batch.records))
                for watch in batch.watches:
                    watch.callback(False)
        return lost

    def _settle(self, batch: _Batch) -> None:
        for watch in batch.watches:
            watch.missing -= 1
            if not watch.missing:
                watch.callback(True)
