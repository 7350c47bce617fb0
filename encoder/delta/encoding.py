"""The side that sends: a record that grows becomes lines, each with what the last one did not have."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from pydantic.main import IncEx

from encoder.columns import FLOAT_DECIMALS
from encoder.delta.attempts import Attempt, kind_of
from encoder.delta.lines import LineWriter
from encoder.delta.moments import Subject
from encoder.delta.texts import packed
from encoder.errors import DeltaStateError
from encoder.pumps import pieces, pieces_on_loop, whole
from encoder.records import Episode, Trace
from encoder.splicer import PIECE_BYTES

_BUSY: Final = "another delta of this stream is being encoded: finish that one first, deltas are sent in their order"
_ENDED: Final = "the last delta has been encoded: `restart` begins another attempt"


class DeltaEncoder:
    """Encodes an episode or a trace as it grows: each delta is one JSON line with what is new.

        encoder = DeltaEncoder(episode)
        send(encoder.encode())                # when something has happened: a message, a call, a phase that ended
        send(encoder.encode(last=True))       # when the record is complete

    All lines go to one `EpisodeAssembly`, in order. Nothing may be lost; a line that is sent again does no harm. The
    same in pieces are `iter_encode` and, on an event loop, `aiter_encode`: then a delta of any size stalls nobody. One
    delta at a time is encoded; the record may grow meanwhile, and what comes too late for one is in the next.

    Nodes, calls, errors and the other lists that grow are sent item by item, every other field whenever it changed. If
    an item that was sent changes later, that is found out while it is among the newest of its list; of all others, and
    of what is inside of the header (task, env, group, producer), by a thorough delta, as the last one is.

    Args:
        record: an episode, or a trace that is a record of its own.
        stream: what the stream is called where several share a connection, by default the record's id.
        float_decimals: the decimals that per-token floats are rounded to, by default 4; None keeps every digit.
        exclude: what to leave out, as `model_dump` takes it.

    Raises:
        TypeError: the record is no episode and no trace.
    """

    def __init__(
        self,
        record: Subject,
        *,
        stream: str | None = None,
        float_decimals: int | None = FLOAT_DECIMALS,
        exclude: IncEx | None = None,
    ) -> None:
        self._record = _checked(record)
        self._stream = record.id if stream is None else stream
        self._arguments = record.dump_options(float_decimals, exclude)
        self._attempt = Attempt(1)
        self._is_busy = False

    @property
    def stream(self) -> str:
        """What the stream is called."""
        return self._stream

    @property
    def attempt(self) -> int:
        """Which attempt at the record the next delta is of, from 1."""
        return self._attempt.number

    @property
    def sequence(self) -> int:
        """The number of the next delta within the attempt, from 0."""
        return self._attempt.sequence

    @property
    def is_complete(self) -> bool:
        """Whether the last delta of this attempt has been encoded."""
        return self._attempt.is_complete

    def preview(self, trace: Trace[Any], messages: Sequence[Any]) -> None:
        """Show messages that no node holds yet, such as a tool's result before the model has answered it.

        They are sent with the next delta, and are no part of the record. They are gone as soon as the trace has another
        node, or by an empty list.

        Args:
            trace: the trace that they will be in.
            messages: models or dicts.
        """
        self._attempt.preview(trace, messages)

    def encode(self, *, last: bool = False, thorough: bool | None = None) -> bytes:
        """Encode what is new as one line, releasing the GIL every millisecond.

        Args:
            last: whether the record is complete. The delta carries a digest of all that was sent, and is thorough.
            thorough: whether to look again at every item that was sent before, which costs what `to_json` does, and a
                few times that for many small items. By default only the last delta does.

        Returns:
            The line, its LF included; nothing at all where nothing is new, unless it is the last one.

        Raises:
            EncodeError: a value cannot be written. It is as if this delta had not been asked for.
            DeltaStateError: another delta is being encoded, or the last one has been.
        """
        with self._encoding():
            line = whole(lambda out: self._write(LineWriter(out), last, thorough))
            self._attempt.commit()
        return line

    def iter_encode(self, *, last: bool = False, thorough: bool | None = None) -> Iterator[bytes]:
        """Yield the bytes of `encode` in pieces of some 64 KB, releasing the GIL every millisecond.

        What is not taken to its end, once the first piece was, may have been sent in part: that ends the attempt, and
        the next delta begins another one, with everything.

        Args:
            last: as for `encode`.
            thorough: as for `encode`.

        Raises:
            EncodeError: a value cannot be written; some pieces may have been yielded by then.
            DeltaStateError: another delta is being encoded, or the last one has been.
        """
        return pieces(self._pieces(last, thorough))

    def aiter_encode(self, *, last: bool = False, thorough: bool | None = None) -> AsyncIterator[bytes]:
        """Yield the pieces of `iter_encode`, giving way to the event loop every millisecond.

        Args:
            last: as for `encode`.
            thorough: as for `encode`.

        Raises:
            EncodeError: a value cannot be written; some pieces may have been yielded by then.
            DeltaStateError: another delta is being encoded, or the last one has been.
        """
        return pieces_on_loop(self._pieces(last, thorough))

    def restart(self, record: Subject | None = None) -> None:
        """Begin another attempt: the next delta makes all earlier ones void, and holds everything.

        For a rollout that is tried anew, and for a receiving side that has lost a delta.

        Args:
            record: the record of the new attempt, of the same kind; by default the same object.

        Raises:
            TypeError: the record is no episode and no trace.
            DeltaStateError: a delta is being encoded, or the record is of another kind.
        """
        if self._is_busy:
            raise DeltaStateError(_BUSY)
        if record is not None:
            if kind_of(_checked(record)) != kind_of(self._record):
                raise DeltaStateError(f"the stream has begun with a record of the kind {kind_of(self._record)!r}")
            self._record = record
        self._attempt = Attempt(self._attempt.number + bool(self._attempt.sequence))

    def discard(self) -> bytes:
        """Encode that all earlier deltas are void, and that nothing takes their place yet.

        `restart` with a new record, or just the next delta, begins the next attempt.

        Returns:
            The line, its LF included.

        Raises:
            DeltaStateError: a delta is being encoded.
        """
        with self._encoding(even_complete=True):
            info = self._attempt.info(self._stream, self._record, "discarded")
            line = whole(lambda out: LineWriter(out).end(info))
            self._attempt = Attempt(info.attempt + 1)
        return line

    @contextmanager
    def _encoding(self, *, even_complete: bool = False) -> Iterator[None]:
        """Let nobody else encode meanwhile."""
        if self._is_busy:
            raise DeltaStateError(_BUSY)
        if self._attempt.is_complete and not even_complete:
            raise DeltaStateError(_ENDED)
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def _write(self, line: LineWriter, last: bool, thorough: bool | None) -> Iterator[None]:
        stream, record, arguments = self._stream, self._record, self._arguments
        return self._attempt.write(line, stream, record, arguments, last=last, thorough=thorough)

    def _pieces(self, last: bool, thorough: bool | None) -> Iterator[bytes]:
        """One line in pieces, and an empty one wherever it is a good moment to give way."""
        out: list[bytes] = []
        line, taken = LineWriter(out), 0
        with self._encoding():
            try:
                for _ in self._write(line, last, thorough):
                    if line.written - taken < PIECE_BYTES:
                        yield b""
                        continue
                    taken = line.written
                    yield from packed(out)
                    out.clear()
                taken = line.written
                yield from packed(out)
            except BaseException:
                if taken:  # somebody has the beginning of this line
                    self._attempt = Attempt(self._attempt.number + 1)
                raise
            self._attempt.commit()


def _checked(record: Subject) -> Subject:
    if not isinstance(record, Episode | Trace):
        raise TypeError(f"an episode or a trace is needed, not {type(record).__name__}")
    return record
