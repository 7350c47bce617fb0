"""A batch that lines go into, until it is sealed; or until something escapes, and they are had back."""

from dataclasses import dataclass

from uploader.models import LineFormat
from uploader.sealing import Sealer
from uploader.worker.handover import Line


@dataclass(slots=True)
class OpenBatch:
    """An open batch.

    Attributes:
        sealer: hashes and compresses its lines.
        since_s: when it was opened.
        records: how many records it holds, that in hand included.
        hand: the line that is being added.
        is_alone: whether that is hashed and compressed before the next ones.
    """

    sealer: Sealer
    since_s: float
    records: int = 0
    hand: Line | None = None
    is_alone: bool = False

    def take(self, line: Line, *, alone: bool) -> None:
        """Take a line in hand."""
        self.hand, self.is_alone = line, alone
        self.records += 1

    def work(self) -> bool:
        """Add it, and hash and compress what is due; whether anything was."""
        line = self.hand
        assert line is not None  # noqa: S101 - it was taken
        is_due = self.sealer.add(line.pieces, line.size, line.number)
        if self.is_alone:
            self.sealer.finish_work()
        elif is_due:
            line.pieces.clear()
            for _ in self.sealer.work():
                pass
        self.hand = None
        return is_due or self.is_alone

    def lines(self, line_format: LineFormat) -> list[Line]:
        """Its lines, to be added anew; that in hand is the last one.

        Raises:
            ValueError: they cannot be had back.
        """
        first = self.sealer.first_line_number
        lines = [
            Line(line_format, pieces, sum(map(len, pieces)), first + index)
            for index, pieces in enumerate(self.sealer.lines())
        ]
        if self.hand is not None and len(lines) < self.records:
            lines.append(self.hand)  # it never came in
        if len(lines) != self.records:
            raise ValueError(f"{len(lines)} lines were had back of {self.records}")
        return lines
