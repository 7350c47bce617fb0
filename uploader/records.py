"""A record (a mapping, an object, an encoded line) becomes the pieces of one line.

A record is first made whole, piece by piece and never joined; only then are its size and its fate known. What
goes wrong on the way concerns this record alone.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import orjson

from uploader.errors import RecordError, TraceTooLargeError
from uploader.limits import CHUNK_BYTES, MAX_LINE_BYTES

Record = Any
"""A mapping, an object with `iter_json`, `to_json` or `to_record`, or one encoded line as bytes."""

_SEVERAL_LINES = "it holds a line feed, and would be several lines: write it compactly"
_KINDS = "a mapping, an object with iter_json, to_json or to_record, or encoded bytes"


class _NoRecordError(TypeError):
    """What was given is no record at all."""


def record_pieces(record: Record) -> Iterator[bytes]:
    """The bytes of a record as they become ready; an encoded line is one piece.

    Of an object's methods the one that gives way soonest is used: `iter_json`, else `to_json`, else
    `to_record`.

    Raises:
        TypeError: the record is none of the kinds that can be written.
        Exception: whatever the record's own methods raise.
    """
    if isinstance(record, bytes):
        yield record
    elif isinstance(record, bytearray | memoryview):
        yield from _copied(memoryview(record))
    elif (method := _method(record, "iter_json")) is not None:
        yield from map(_as_bytes, method())
    elif (method := _method(record, "to_json")) is not None:
        yield _as_bytes(method())
    elif (method := _method(record, "to_record")) is not None:
        yield _dumps(method())
    elif isinstance(record, Mapping):
        yield _dumps(record)
    else:
        _refuse(record)


def whole_record(
    record: Record, line_number: int, *, max_line_bytes: int = MAX_LINE_BYTES, pause: Callable[[], object] | None = None
) -> tuple[list[bytes], int]:
    """All pieces of a record's line, the LF included, and their size in bytes.

    Args:
        record: what to write; bytes may end with an LF or not.
        line_number: the record's place in its source, counted from 1.
        max_line_bytes: how long a line may be, its LF not counted.
        pause: called now and then while a long piece is looked through.

    Raises:
        RecordError: the record cannot be written, is blank, or would be more than one line.
        TraceTooLargeError: the record is too long; its pieces were let go as they came.
    """
    pieces: list[bytes] = []
    size = 0
    for piece in line_pieces(record, line_number, pause):
        size += len(piece)
        if size - 1 <= max_line_bytes:
            pieces.append(piece)
        else:
            pieces.clear()
    if size - 1 > max_line_bytes:
        raise TraceTooLargeError(line_number, size - 1, max_line_bytes)
    return pieces, size


def line_pieces(record: Record, line_number: int, pause: Callable[[], object] | None = None) -> Iterator[bytes]:
    """The pieces of a record's line as they become ready; an LF ends the last one, and stands nowhere else.

    Args:
        record: as for `whole_record`.
        line_number: as for `whole_record`.
        pause: as for `whole_record`.

    Raises:
        RecordError: the record cannot be written, is blank, or would be more than one line; some pieces may have been
            yielded by then.
    """
    ended, blank = False, True
    try:
        for piece in record_pieces(record):
            if not piece:
                continue
            if ended:
                raise RecordError(line_number, _SEVERAL_LINES)
            ended = _ends_line(piece, line_number, pause)
            blank = blank and piece.isspace()
            yield piece
    except RecordError:
        raise
    except _NoRecordError as error:
        raise RecordError(line_number, str(error)) from None
    except Exception as error:
        raise RecordError(line_number, f"{type(error).__name__}: {error}") from error
    if blank:
        raise RecordError(line_number, "it is blank, and a blank line is no record")
    if not ended:
        yield b"\n"


def _ends_line(piece: bytes, line_number: int, pause: Callable[[], object] | None) -> bool:
    """Whether a piece ends with the line's LF; one anywhere else is refused.

    A long piece is searched in parts: one search of 60 MB would hold the GIL for milliseconds.
    """
    for start in range(0, len(piece), CHUNK_BYTES):
        if start and pause is not None:
            pause()
        position = piece.find(b"\n", start, start + CHUNK_BYTES)
        if position == len(piece) - 1:
            return True
        if position >= 0:
            raise RecordError(line_number, _SEVERAL_LINES)
    return False


def _method(record: Record, name: str) -> Any | None:
    method = getattr(record, name, None)
    return method if callable(method) else None


def _copied(view: memoryview) -> Iterator[bytes]:
    """A buffer that may change later, in pieces that will not."""
    flat = view.cast("B") if view.contiguous else memoryview(view.tobytes())
    for start in range(0, len(flat), CHUNK_BYTES):
        yield bytes(flat[start : start + CHUNK_BYTES])


def _as_bytes(encoded: object) -> bytes:
    if isinstance(encoded, bytes):
        return encoded
    if isinstance(encoded, bytearray | memoryview):
        return bytes(encoded)
    if isinstance(encoded, str):
        return encoded.encode()
    raise TypeError(f"its encoder gave {type(encoded).__name__}, not bytes")


def _dumps(record: object) -> bytes:
    plain = dict(record) if isinstance(record, Mapping) and not isinstance(record, dict) else record
    return orjson.dumps(plain, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY)


def _plain(value: object) -> object:
    """What orjson should write for a value that it does not know: a mapping, or a model inside a mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    if (method := _method(value, "to_record")) is not None:
        return method()
    if (method := _method(value, "model_dump")) is not None:
        return method(mode="json")
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _refuse(record: object) -> NoReturn:
    hint = ""
    if isinstance(record, str):
        hint = "; of a text, text.encode()"
    elif hasattr(record, "model_dump"):
        hint = "; of a pydantic model, encoder.to_json(model)"
    raise _NoRecordError(f"{type(record).__name__} cannot be a record: give {_KINDS}{hint}")
