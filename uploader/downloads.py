"""Where raw downloads go: memory, or a file that appears only when it is whole."""

import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from uploader.naming import named


class RawMemory:
    """A download kept in memory, in the pieces it came in."""

    blocks = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def restart(self) -> None:
        """Forget what an earlier attempt wrote."""
        self._pieces.clear()

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._pieces.append(chunk)

    def content(self) -> bytes:
        """All of it."""
        return b"".join(self._pieces)


class RawFile:
    """A download into a temporary file beside its destination, which it replaces when all went well.

    Leaving the context with an error, or without `keep`, removes the temporary file and leaves the destination alone.

    Attributes:
        size: the bytes written so far.
    """

    blocks = True

    def __init__(self, destination: str | os.PathLike[str]) -> None:
        self.size = 0
        self._destination = Path(destination)
        self._partial = self._destination.parent / f".unstall-{secrets.token_hex(8)}.partial"
        self._file: BinaryIO | None = None

    def restart(self) -> None:
        """Begin, or begin again.

        Raises:
            OSError: no file can be made there.
        """
        with named(self._destination):
            if self._file is None:
                self._file = open(self._partial, "xb")  # noqa: SIM115 - closed by keep or discard
            self._file.seek(0)
            self._file.truncate()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""
        assert self._file is not None  # noqa: S101 - restart comes first
        with named(self._destination):
            self._file.write(chunk)
        self.size += len(chunk)

    def keep(self) -> int:
        """Put the whole download in its place and return its size in bytes."""
        assert self._file is not None  # noqa: S101 - restart comes first
        with named(self._destination):
            self._file.close()
            self._partial.replace(self._destination)
        self._file = None
        return self.size

    def discard(self) -> None:
        """Remove what there is of it, unless it was kept."""
        if self._file is not None:
            self._file.close()
            self._partial.unlink(missing_ok=True)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()
