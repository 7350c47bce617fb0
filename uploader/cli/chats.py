"""A file of chats as episodes, one a line; a chat that cannot become one is named by its line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from encoder.chats import from_messages
from encoder.errors import EncoderError
from encoder.records import Episode

_OWN_KEYS: Final = frozenset({"messages", "reward"})


@dataclass(frozen=True)
class Converted:
    """One line of chats.

    Attributes:
        line_number: the line, counted from 1, blank ones included.
        size: its bytes.
        episode: what it became, None when nothing.
        encoded: the episode as JSON, without an LF; empty when there is none.
        problem: why there is no episode.
        is_duplicate: whether an earlier line became the same episode.
    """

    line_number: int
    size: int
    episode: Episode[Any] | None = None
    encoded: bytes = b""
    problem: str | None = None
    is_duplicate: bool = False


def convert_file(path: Path) -> Iterator[Converted]:
    """Every line of a file that is not blank, converted.

    A line is `{"messages": [...], "reward": float | null}`; other keys are kept in the trace's `info`. A bare list of
    messages will do, too.

    Raises:
        OSError: the file cannot be read.
    """
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.isspace():
                continue
            converted = _convert(number, line)
            episode = converted.episode
            if episode is not None and episode.id in seen:
                converted = Converted(number, len(line), is_duplicate=True)
            elif episode is not None:
                seen.add(episode.id)
            yield converted


def _convert(number: int, line: bytes) -> Converted:
    try:
        episode = _episode(line)
        return Converted(number, len(line), episode, episode.to_json())
    except (ValueError, EncoderError) as error:
        return Converted(number, len(line), problem=str(error))
    except RecursionError:
        return Converted(number, len(line), problem="it is nested too deeply")


def _episode(line: bytes) -> Episode[Any]:
    """The episode that a line means. `json` takes lone surrogates, which real files hold; encoding then says where.

    Raises:
        ValueError: the line is no chat.
        EncoderError: the chat cannot be an episode.
    """
    try:
        chat = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} (column {error.colno})") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} (byte {error.start})") from None
    if isinstance(chat, list):
        chat = {"messages": chat}
    if not isinstance(chat, dict) or not isinstance(chat.get("messages"), list):
        raise ValueError("not a chat: no object with a list of messages")
    info = {name: value for name, value in chat.items() if name not in _OWN_KEYS and value is not None}
    return from_messages(chat["messages"], reward=chat.get("reward"), info=info or None)
