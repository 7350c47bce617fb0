"""Streaming gzip: ISA-L at the fast levels, the standard zlib elsewhere.

The header carries no time (`mtime=0`), so the same chunks at the same level make the same bytes on one
machine. Between machines they may differ, as one of them may lack ISA-L; a batch is known by the digest of
its *uncompressed* bytes, which does not care. Both libraries let the GIL go while they work on a chunk.
"""

import zlib
from typing import Any, Protocol, TypeAlias

from uploader.errors import ConfigurationError

try:
    from isal import isal_zlib
except ImportError:  # no wheel for this platform
    isal_zlib = None  # type: ignore[assignment]

Chunk: TypeAlias = bytes | memoryview
"""Bytes on their way into a compressor: at most 256 KiB of them at once, or the GIL is missed elsewhere."""

CompressOption: TypeAlias = bool | int
"""False: not at all. True: gzip level 1. An int: that gzip level, 0 to 9."""

_DEFAULT_LEVEL = 1
_MAX_ISAL_LEVEL = 3
_MAX_ZLIB_LEVEL = 9
_GZIP_WBITS = 16 + zlib.MAX_WBITS  # a gzip container around the raw stream


class Compressor(Protocol):
    """Takes chunks, gives back what is ready of the compressed stream."""

    def add(self, chunk: Chunk) -> bytes:
        """The output that is ready after this chunk, often none."""

    def finish(self) -> bytes:
        """The rest of the output; nothing can be added after it."""


class SyncingCompressor(Compressor, Protocol):
    """One whose output can be had at any time."""

    def sync(self) -> bytes:
        """The rest of the output for what was added so far: some bytes more than without."""


class _Stream(Protocol):
    """What `zlib` and `isal_zlib` have in common."""

    def compress(self, data: Chunk, /) -> bytes: ...

    def flush(self, mode: int = ..., /) -> bytes: ...


class GzipReader(Protocol):
    """What the decompressors of `zlib` and `isal_zlib` have in common; see `zlib.decompressobj`."""

    @property
    def eof(self) -> bool:
        """Whether the stream's end was read."""

    @property
    def unused_data(self) -> bytes:
        """What followed the stream's end."""

    @property
    def unconsumed_tail(self) -> bytes:
        """What was not read, as the output would have been too long."""

    def decompress(self, data: Chunk, max_length: int = 0, /) -> bytes:
        """Read some of the stream.

        Raises:
            Exception: one of `GZIP_ERRORS`: the stream is damaged.
        """


GZIP_ERRORS: tuple[Any, ...] = (zlib.error, getattr(isal_zlib, "error", zlib.error))


class GzipCompressor:
    """One gzip stream."""

    def __init__(self, level: int) -> None:
        self._stream = _open_stream(level)

    def add(self, chunk: Chunk) -> bytes:
        """The output that is ready after this chunk, often none."""
        return self._stream.compress(chunk)

    def sync(self) -> bytes:
        """The rest of the output for what was added so far: some bytes more than without."""
        return self._stream.flush(zlib.Z_SYNC_FLUSH)  # the number is the same for ISA-L

    def finish(self) -> bytes:
        """The rest of the output; nothing can be added after it."""
        return self._stream.flush()


class PlainCompressor:
    """Gives back what it is given."""

    def add(self, chunk: Chunk) -> bytes:
        """The chunk as bytes of its own: a view would keep the whole record alive."""
        return bytes(chunk)

    def sync(self) -> bytes:
        """Nothing."""
        return b""

    def finish(self) -> bytes:
        """Nothing."""
        return b""


def gzip_level(compress: CompressOption) -> int | None:
    """The gzip level that an option asks for, None for no compression.

    Raises:
        ConfigurationError: neither a bool nor a level from 0 to 9.
    """
    if isinstance(compress, bool):
        return _DEFAULT_LEVEL if compress else None
    if isinstance(compress, int) and 0 <= compress <= _MAX_ZLIB_LEVEL:
        return compress
    raise ConfigurationError("compress", f"{compress!r} is none of False, True and the gzip levels 0 to 9")


def open_compressor(level: int | None) -> SyncingCompressor:
    """A compressor for one batch, at a level that `gzip_level` gave."""
    return PlainCompressor() if level is None else GzipCompressor(level)


def open_gzip_reader() -> GzipReader:
    """A decompressor for one gzip stream."""
    module: Any = isal_zlib or zlib
    stream: GzipReader = module.decompressobj(_GZIP_WBITS)
    return stream


def _open_stream(level: int) -> _Stream:
    if isal_zlib is not None and level <= _MAX_ISAL_LEVEL:
        return isal_zlib.compressobj(level, isal_zlib.DEFLATED, _GZIP_WBITS)
    # ISA-L's level 0 is its fastest; zlib's level 0 would not compress at all.
    return zlib.compressobj(max(level, 1), zlib.DEFLATED, _GZIP_WBITS)
