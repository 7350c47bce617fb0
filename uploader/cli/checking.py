"""The lines of a file, each checked to be a JSON object before it is handed on.

The check walks over a line without building objects (800 MB/s, no memory), where `json.loads` would need ten times the
line's size. A line that fails ends the source, so that nothing of its batch is sent.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import orjson

from uploader.errors import UploaderError
from uploader.lines import file_lines

CHAT_HINT: Final = " (chats become episodes with uploader convert; upload these with --line-format episode)"
"""What is said of lines that look like chats."""

_DECODER: Final = msgspec.json.Decoder(msgspec.Raw)
_UTF8_SLICE_BYTES: Final = 256 * 1024
_POSITION: Final = re.compile(r": line \d+ (column \d+) \(char \d+\)$")


class BadLineError(UploaderError):
    """A line of a file that cannot be uploaded.

    Attributes:
        path: the file.
        line_number: the line, counted from 1, blank ones included.
        reason: what is wrong with it.
    """

    def __init__(self, path: str, line_number: int, reason: str) -> None:
        super().__init__(path, line_number, reason)
        self.path = path
        self.line_number = line_number
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}, line {self.line_number}: {self.reason}"


def checked_lines(path: Path, on_blank: Callable[[int], None] = lambda number: None) -> Iterator[bytes]:
    """The lines of a file, blank ones included.

    Args:
        path: the file.
        on_blank: told of the number of each blank line, counted from 1.

    Raises:
        BadLineError: a line is no JSON object, or the file holds none.
        TraceTooLargeError: a line is too long.
        OSError: the file cannot be read.
    """
    number = records = 0
    for number, line in enumerate(file_lines(path), start=1):
        if line.isspace():
            on_blank(number)
        elif (problem := line_problem(line)) is not None:
            raise BadLineError(str(path), number, problem)
        else:
            records += 1
        yield line
    if not records:
        raise BadLineError(
            str(path), max(1, number), "the file holds only blank lines" if number else "the file is empty"
        )


def line_problem(line: bytes) -> str | None:
    """What keeps a line from being a JSON object in UTF-8; None when nothing does."""
    try:
        _DECODER.decode(line)
    except msgspec.DecodeError as error:
        return f"not JSON: {_reason(line, str(error))}"
    except RecursionError:
        return "not usable as JSON: nested too deeply"
    if line.lstrip(b" \t\r\n")[:1] != b"{":
        return f"not a record: the line is JSON, but no object{CHAT_HINT if looks_like_chat(line) else ''}"
    return _utf8_problem(line)


def looks_like_chat(line: bytes) -> bool:
    """Whether a line is a chat rather than a record: messages, and neither nodes nor traces."""
    try:
        chat = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    if isinstance(chat, dict):
        if not chat.keys().isdisjoint(("nodes", "traces")):
            return False
        chat = chat.get("messages")
    return isinstance(chat, list) and bool(chat) and all(isinstance(message, dict) for message in chat)


def _reason(line: bytes, fallback: str) -> str:
    """In orjson's words, which give the column; it is asked only about lines that failed."""
    try:
        orjson.loads(line.rstrip())
    except orjson.JSONDecodeError as error:
        return _POSITION.sub(r" (\1)", str(error))
    return fallback


def _utf8_problem(line: bytes) -> str | None:
    """The JSON check skips the bytes of strings; this looks at them, a slice at a time."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(line), _UTF8_SLICE_BYTES):
        end = start + _UTF8_SLICE_BYTES
        try:
            decoder.decode(line[start:end], final=end >= len(line))
        except UnicodeDecodeError as error:
            return f"not UTF-8: {error.reason} (near byte {start + error.start})"
    return None
