"""How lines are written to a file: as they are, or each as a gzip or zstd stream of its own, one behind the other.

A file is continued where its last whole line, or its last whole stream, ends. Only what a killed process leaves is cut
off: a line without its LF, a stream that ends too early. Where a file is damaged in another way nothing is cut, as good
lines may follow; it is left alone then.
"""

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from uploader.compression import GZIP_ERRORS, Compressor, gzip_level, open_compressor, open_gzip_reader
from uploader.errors import ConfigurationError
from uploader.limits import CHUNK_BYTES, MIB
from uploader.monitors.tails import last_place

Compress: TypeAlias = Literal["gz", "zst"]

_MAX_OUTPUT: Final = MIB
"""The most bytes that are decompressed at once: a stream of zeros grows a thousandfold."""

_ZSTD_LEVEL: Final = 3

_GZIP_MARK: Final = b"\x1f\x8b\x08"
_ZSTD_MARK: Final = b"\x28\xb5\x2f\xfd"
"""What each stream begins with."""


class End(NamedTuple):
    """Where a file is continued.

    Attributes:
        size: the bytes up to the end of the last whole line.
        is_damaged: whether what follows is not what a killed process leaves.
    """

    size: int
    is_damaged: bool = False


class Codec(Protocol):
    """Writes lines in one way.

    Attributes:
        suffix: of the files' names.
    """

    suffix: str

    def compressor(self) -> Compressor:
        """What one line is written with."""

    def end_of(self, path: Path) -> End:
        """Where a file is continued.

        Raises:
            OSError: it cannot be read.
        """

    def ends_whole(self, path: Path) -> bool:
        """Whether a file ends with a whole line, or is empty; no more than its last line is read, usually, if it does.

        Raises:
            OSError: it cannot be read.
        """


class PlainCodec:
    """Lines as they are."""

    suffix = ""

    def compressor(self) -> Compressor:
        """What gives back what it is given."""
        return open_compressor(None)

    def end_of(self, path: Path) -> End:
        """Behind the last LF, which is looked for from the end."""
        last = last_place(path, b"\n")
        return End(0 if last is None else last + 1)

    def ends_whole(self, path: Path) -> bool:
        """Whether its last byte is an LF."""
        with path.open("rb", buffering=0) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            return file.read(1) in (b"", b"\n")


class _Reader(Protocol):
    """Reads one stream."""

    def feed(self, data: bytes) -> bytes | None:
        """Read some; what follows the stream's end, None where that has not come.

        Raises:
            Exception: one of the codec's errors: it is damaged.
        """


class StreamCodec:
    """A stream for each line.

    Args:
        suffix: of the files' names.
        new_compressor: makes what writes one stream.
        new_reader: makes what reads one.
        errors: what that raises where a stream is damaged.
        mark: what each stream begins with.
    """

    def __init__(
        self,
        suffix: str,
        new_compressor: Callable[[], Compressor],
        new_reader: Callable[[], _Reader],
        errors: tuple[type[Exception], ...],
        mark: bytes,
    ) -> None:
        self.suffix = suffix
        self._new_compressor = new_compressor
        self._new_reader = new_reader
        self._errors = errors
        self._mark = mark

    def compressor(self) -> Compressor:
        """What writes one stream."""
        return self._new_compressor()

    def end_of(self, path: Path) -> End:
        """Where the last whole stream ends: all of the file is read."""
        return self._end_of(path, 0)

    def ends_whole(self, path: Path) -> bool:
        """Whether what begins like a stream for the last time is one, up to the file's end.

        Where it is none it may be within a stream, by chance: all of the file is read then.
        """
        whole = End(path.stat().st_size)
        last = last_place(path, self._mark) or 0
        return self._end_of(path, last) == whole or (last > 0 and self._end_of(path, 0) == whole)

    def _end_of(self, path: Path, start: int) -> End:
        end = position = start
        reader = self._new_reader()
        for block in _blocks(path, start):
            position += len(block)
            rest: bytes | None = block
            while rest:
                try:
                    rest = reader.feed(rest)
                except self._errors:
                    return End(end, is_damaged=True)
                if rest is not None:
                    end, reader = position - len(rest), self._new_reader()
        return End(end)


def _blocks(path: Path, start: int) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while block := file.read(CHUNK_BYTES):
            yield block


class _GzipReader:
    def __init__(self) -> None:
        self._stream = open_gzip_reader()

    def feed(self, data: bytes) -> bytes | None:
        while True:
            output = self._stream.decompress(data, _MAX_OUTPUT)
            if self._stream.eof:
                return self._stream.unused_data
            data = self._stream.unconsumed_tail
            if not data and len(output) < _MAX_OUTPUT:
                return None


class _ZstdReader:
    def __init__(self, decompressor: Any) -> None:
        self._stream = decompressor

    def feed(self, data: bytes) -> bytes | None:
        self._stream.decompress(data, _MAX_OUTPUT)
        while not self._stream.eof:
            if self._stream.needs_input:
                return None
            self._stream.decompress(b"", _MAX_OUTPUT)
        rest: bytes = self._stream.unused_data
        return rest


class _ZstdCompressor:
    """One zstd stream at a time; what compresses it is large, and used again for the next."""

    def __init__(self, compressor: Any) -> None:
        self._stream = compressor

    def add(self, chunk: bytes | memoryview) -> bytes:
        output: bytes = self._stream.compress(chunk)
        return output

    def finish(self) -> bytes:
        output: bytes = self._stream.flush()
        return output


def open_codec(compress: object) -> Codec:
    """The codec of `FileMonitor`'s option.

    Raises:
        ConfigurationError: there is none, or its library is not installed.
    """
    if compress is None:
        return PlainCodec()
    if compress == "gz":
        level = gzip_level(True)
        return StreamCodec(".gz", lambda: open_compressor(level), _GzipReader, GZIP_ERRORS, _GZIP_MARK)
    if compress == "zst":
        zstd = open_zstd()
        options = {
            zstd.CompressionParameter.compression_level: _ZSTD_LEVEL,
            zstd.CompressionParameter.checksum_flag: 1,
        }
        return StreamCodec(
            ".zst",
            lambda: _ZstdCompressor(zstd.ZstdCompressor(options=options)),
            lambda: _ZstdReader(zstd.ZstdDecompressor()),
            (zstd.ZstdError,),
            _ZSTD_MARK,
        )
    raise ConfigurationError("compress", f"it must be None, 'gz' or 'zst', not {compress!r}")


def open_zstd() -> Any:
    """The module of zstd: the standard library's, or its backport.

    Raises:
        ConfigurationError: there is none.
    """
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ConfigurationError("compress", "zstd is not installed: pip install 'unstall[zstd]'")
