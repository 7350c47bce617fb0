"""Whether a line's bytes are text at all: UTF-8, and no halves of surrogate pairs."""

import codecs
import re
from typing import Final

import msgspec
from msgspec import Raw

from uploader.receiver.errors import RequestRefusedError

_UTF8_SLICE_BYTES: Final = 256 * 1024

#: A backslash pair, a whole surrogate pair, or (named) half of one. Read from the left, pairs of backslashes
#: are skipped over, so that an escaped backslash before a `u` is no escape.
_SURROGATES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def check_utf8(data: bytes, where: str) -> None:
    """Check bytes that are too long to decode at once.

    Raises:
        RequestRefusedError: `malformed_encoding`.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _UTF8_SLICE_BYTES):
            decoder.decode(view[start : start + _UTF8_SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise RequestRefusedError("malformed_encoding", f"{where} is not UTF-8: {error.reason}.") from error


def unreadable(data: bytes | Raw, where: str, error: Exception) -> RequestRefusedError:
    """What a line is refused with that the decoder did not take.

    Args:
        data: the line, or the part of it that was decoded.
        where: names the record.
        error: the decoder's.
    """
    if not isinstance(error, msgspec.ValidationError) and any(
        match["lone"] for match in _SURROGATES.finditer(memoryview(data))
    ):
        return RequestRefusedError(
            "malformed_encoding", f"{where} holds half of a surrogate pair, which UTF-8 cannot carry."
        )
    return RequestRefusedError("invalid_trace", f"{where} is not valid: {error}.")
