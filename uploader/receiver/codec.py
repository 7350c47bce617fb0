"""The gzip codec: ISA-L where it is installed, the standard zlib elsewhere."""

import zlib
from typing import Any, Final, Protocol, cast

_GZIP_WBITS: Final = 31

try:
    from isal import isal_zlib
except ImportError:  # pragma: no cover - where ISA-L has no wheel
    _codec: Any = zlib
    CODEC_ERRORS: tuple[type[Exception], ...] = (zlib.error,)
else:
    _codec = isal_zlib
    CODEC_ERRORS = (zlib.error, cast("type[Exception]", isal_zlib.error))


class Inflater(Protocol):
    """A streaming decompressor of one gzip member."""

    eof: bool
    unused_data: bytes
    unconsumed_tail: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most `max_length` bytes of what `data` holds; the input left over is `unconsumed_tail`."""
        ...


class Deflater(Protocol):
    """A streaming compressor of one gzip member."""

    def compress(self, data: bytes | memoryview) -> bytes:
        """The compressed bytes that are ready."""
        ...

    def flush(self) -> bytes:
        """The rest of the member."""
        ...


def new_inflater() -> Inflater:
    """A decompressor for the next gzip member; its check sum is verified."""
    return cast("Inflater", _codec.decompressobj(wbits=_GZIP_WBITS))


def new_deflater() -> Deflater:
    """A compressor for the next gzip member, at level 1."""
    return cast("Deflater", _codec.compressobj(level=1, wbits=_GZIP_WBITS))


def inflate_member(data: bytes) -> bytes:
    """The whole content of one gzip member that we wrote ourselves."""
    return cast("bytes", _codec.decompress(data, wbits=_GZIP_WBITS))
