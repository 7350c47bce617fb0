"""Divide the bytes of a connection into lines."""

from encoder.splicer import PIECE_BYTES


class DeltaLines:
    """Divides a stream of bytes, as they come from a socket, into lines; the bytes of a long line are never joined."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        # The last pieces of what is held, joined once they are long enough: many short ones would cost more than that.
        self._short: list[bytes] = []
        self._short_bytes = 0

    def feed(self, data: bytes) -> list[list[bytes]]:
        """The lines that are complete now, each as its pieces; blank ones are left out.

        Args:
            data: the bytes that came next, however they were cut.
        """
        lines: list[list[bytes]] = []
        start = 0
        while (end := data.find(b"\n", start) + 1) > 0:
            self._hold(data[start:end])
            line = [*self._held, b"".join(self._short)]
            self._held, self._short, self._short_bytes = [], [], 0
            if any(not piece.isspace() for piece in line if piece):
                lines.append(line)
            start = end
        if start < len(data):
            self._hold(data[start:])
        return lines

    def _hold(self, piece: bytes) -> None:
        self._short.append(piece)
        self._short_bytes += len(piece)
        if self._short_bytes >= PIECE_BYTES:
            self._held.append(b"".join(self._short))
            self._short, self._short_bytes = [], 0

    @property
    def is_empty(self) -> bool:
        """Whether no part of a line waits for its end."""
        return not self._held and not self._short
