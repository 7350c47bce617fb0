"""One attempt at a record: what has been sent of it, and what its next line says."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encoder.delta.growing import Growth, Sent
from encoder.delta.lines import DeltaInfo, Kind, LineWriter, State
from encoder.delta.moments import Subject, frozen
from encoder.delta.sources import Layouts
from encoder.records import Episode, Trace


class Attempt:
    """One attempt; another one begins with nothing.

    Args:
        number: which one it is, from 1.

    Attributes:
        sequence: the number of the next line.
        is_complete: whether the last line has been written.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.sequence = 0
        self.is_complete = False
        self._sent = Sent()
        self._layouts: Layouts = {}
        # Messages that no node holds yet by the ids of their traces, with the number of nodes that there were.
        self._previews: dict[str, tuple[Sequence[Any], int]] = {}
        # What will have been sent once the line has been taken, and whether that is all.
        self._written: tuple[Sent, bool] | None = None

    def preview(self, trace: Trace[Any], messages: Sequence[Any]) -> None:
        """Note the messages of a trace that no node holds yet."""
        self._previews[trace.id] = (tuple(messages), len(trace.nodes))

    def info(self, stream: str, record: Subject, state: State, digest: str | None = None) -> DeltaInfo:
        """What the next line says of itself."""
        return DeltaInfo(stream, self.number, self.sequence, kind_of(record), state, digest)

    def write(
        self,
        line: LineWriter,
        stream: str,
        record: Subject,
        arguments: Mapping[str, Any],
        *,
        last: bool,
        thorough: bool | None,
    ) -> Iterator[None]:
        """Write the next line, if there is something to say, and yield where it is a good moment to give way.

        Nothing counts until `commit`: what fails, or is not taken to its end, has never been.
        """
        self._written = None
        model = yield from frozen(record)
        previews = {} if last else self._pending(model)
        thorough = last if thorough is None else thorough
        growth = Growth(line, self._sent, arguments, previews, thorough=thorough)
        sent = yield from growth.steps(model, self._layouts)
        if not line.changes and not last:
            return
        digest = (yield from sent.ledger.digest()) if last else None
        yield from line.end(self.info(stream, record, "last" if last else "more", digest))
        self._written = (sent, last)

    def _pending(self, model: Any) -> dict[str, Sequence[Any]]:
        """The messages that are still pending at a moment, by their traces' ids."""
        if not self._previews:
            return {}
        traces = model.traces if isinstance(model, Episode) else [model]
        lengths = {trace.id: len(trace.nodes) for trace in traces if isinstance(trace, Trace)}
        return {
            name: messages for name, (messages, length) in self._previews.items() if lengths.get(name, -1) <= length
        }

    def commit(self) -> None:
        """The line that was written, if one was, is somebody else's now."""
        if self._written is not None:
            self._sent, self.is_complete = self._written
            self._written = None
            self.sequence += 1


def kind_of(record: Subject) -> Kind:
    """What a record is."""
    return "episode" if isinstance(record, Episode) else "trace"
