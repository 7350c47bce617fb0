"""The side that receives: lines become the record that one dump at the end would have given.

Values are kept as the bytes that they came in, cut out by counting and never read. So a line costs little more than
its copy, whatever is in it, and an assembly takes the memory of its JSON.
"""

from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from typing import Final

from encoder.delta.ledger import Ledger
from encoder.delta.lines import DeltaInfo, Kind
from encoder.delta.output import record_pieces
from encoder.delta.reading import Bytes, Line
from encoder.delta.texts import packed
from encoder.delta.views import AssembledTrace
from encoder.encode import to_json
from encoder.errors import DamagedRecordError, DeltaStateError, ForeignDeltaError, LostDeltaError, MalformedDeltaError
from encoder.pumps import pieces, pieces_on_loop, whole, work_off, work_off_on_loop
from encoder.records import RunInfo

# Texts that are let go between two moments to give way: each of some 64 KB, which takes some microseconds.
_FREED_AT_ONCE: Final = 8

_NOTHING_YET: Final = "there is no record: no delta of it has arrived, or the attempt was discarded"


class EpisodeAssembly:
    """Puts the lines of one stream together: an episode with its traces, or a trace that is a record of its own.

        assembly = EpisodeAssembly(run=run)
        for line in lines:
            assembly.feed(line)
        run.log_episodes([assembly])      # it has `iter_json`, so it can be logged and uploaded as it is

    After each delta, `to_json` is the record as far as it has arrived, after the last one the record that `to_json` of
    the whole would have been, with this run in it. A line that was fed before is passed over, and so is what belongs to
    an attempt that another one has taken the place of. Whatever `feed` raises, the assembly is as it was before.

    One thread at a time may feed it; tasks of one event loop take turns by themselves.

    Args:
        run: the run that the record belongs to, said on the episode and on each of its traces, as `record_run` does.
            None keeps what the sender says, which is nothing as a rule.
        stream: the name of the stream; None takes that of the first line.
    """

    def __init__(self, run: RunInfo | None = None, stream: str | None = None) -> None:
        self._run = run
        self._stream = stream
        self._info: DeltaInfo | None = None
        self._ledger = Ledger()

    @property
    def stream(self) -> str | None:
        """The name of the stream; None before it is known."""
        return self._stream

    @property
    def kind(self) -> Kind | None:
        """Whether the record is an episode or a trace; None before a delta has arrived."""
        return None if self._info is None else self._info.kind

    @property
    def attempt(self) -> int:
        """The attempt that the record is of; 0 before a delta has arrived."""
        return 0 if self._info is None else self._info.attempt

    @property
    def sequence(self) -> int:
        """The number of the delta that comes next in this attempt."""
        return 0 if self._info is None else self._info.sequence + 1

    @property
    def is_complete(self) -> bool:
        """Whether the record is complete, and the same bytes that were sent."""
        return self._info is not None and self._info.state == "last"

    @property
    def is_discarded(self) -> bool:
        """Whether the sender has made void what it had sent, and nothing has taken its place."""
        return self._info is not None and self._info.state == "discarded"

    @property
    def record(self) -> AssembledTrace:
        """The record's own fields, as far as they have arrived."""
        return AssembledTrace(self._ledger.record)

    @property
    def traces(self) -> tuple[AssembledTrace, ...]:
        """An episode's traces, as far as they have arrived."""
        return tuple(map(AssembledTrace, self._ledger.traces.values()))

    def record_run(self, run: RunInfo) -> None:
        """Say which run the record belongs to, on it and on each of its traces, instead of what was sent."""
        self._run = run

    def feed(self, line: Bytes | Sequence[Bytes]) -> bool:
        """Take one line in, releasing the GIL every millisecond.

        Args:
            line: its bytes, or pieces of them (see `DeltaLines`); the LF at its end may be missing.

        Returns:
            Whether it brought something; not if it was here before, or belongs to an attempt that is void.

        Raises:
            LostDeltaError: one before it has not arrived.
            ForeignDeltaError: it belongs to another stream.
            DeltaVersionError: it is of a version that is not known here.
            MalformedDeltaError: it is no delta, or says what cannot be.
            DamagedRecordError: it is the last one, and the record is not the one that was sent.
        """
        return work_off(self._steps(line))

    async def afeed(self, line: Bytes | Sequence[Bytes]) -> bool:
        """Take one line in on the event loop, giving way to it; as `feed`."""
        return await work_off_on_loop(self._steps(line))

    def _steps(self, line: Bytes | Sequence[Bytes]) -> Generator[None, None, bool]:
        read = Line(line)
        info = read.info
        if self._stream is not None and self._stream != info.stream:
            raise ForeignDeltaError(self._stream, info.stream)
        if not self._is_news(info):
            return False
        ledger = Ledger()
        if info.state != "discarded":
            changes = yield from read.changes()
            before = self._ledger if info.attempt == self.attempt else ledger
            ledger = yield from before.changed(changes)
        if info.digest is not None:
            got = yield from ledger.digest()
            if got != info.digest:
                raise DamagedRecordError(info.stream, info.digest, got)
        self._stream, self._info, self._ledger = info.stream, info, ledger
        return True

    def _is_news(self, info: DeltaInfo) -> bool:
        """Whether a line comes next; not if it was here before or is void.

        Raises:
            LostDeltaError: it comes later.
            MalformedDeltaError: nothing can come.
        """
        is_current = info.attempt == self.attempt
        expected = self.sequence if is_current else 0
        if info.attempt < self.attempt or info.sequence < expected:
            return False
        if info.state == "discarded":
            return True
        if info.sequence > expected:
            raise LostDeltaError(info.stream, info.attempt, expected, info.sequence)
        if is_current and (self.is_complete or self.is_discarded or info.kind != self.kind):
            raise MalformedDeltaError(f"attempt {info.attempt} at a {self.kind} is over, or this is a {info.kind}'s")
        return True

    def to_json(self) -> bytes:
        """Return the record, as far as it has arrived; as fast as memory can be copied.

        Raises:
            DeltaStateError: there is none.
        """
        return whole(self._fill)

    def iter_json(self) -> Iterator[bytes]:
        """Yield the bytes of `to_json` in pieces.

        Raises:
            DeltaStateError: there is none.
        """
        return pieces(self._pieces())

    def aiter_json(self) -> AsyncIterator[bytes]:
        """Yield the bytes of `to_json` in pieces, giving way to the event loop.

        Raises:
            DeltaStateError: there is none.
        """
        return pieces_on_loop(self._pieces())

    def let_go(self) -> Iterator[None]:
        """Forget all that has arrived, a little at a time, and yield where it is a good moment to give way.

        To drop a large assembly at once holds the GIL for milliseconds; a run that has logged it does this by itself.
        """
        texts = self._ledger.texts()
        self._info, self._ledger = None, Ledger()
        while texts:
            del texts[-_FREED_AT_ONCE:]
            yield

    def _fill(self, out: list[bytes]) -> Iterator[None]:
        for piece in self._pieces():
            out.append(piece)
            yield

    def _pieces(self) -> Iterator[bytes]:
        if self._info is None or self.is_discarded:
            raise DeltaStateError(_NOTHING_YET)
        run = None if self._run is None else to_json(self._run, exclude_none=self.kind == "episode")
        return packed(record_pieces(self._ledger, run))
