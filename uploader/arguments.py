"""What can be wrong with a caller's arguments is said before anything is done with them."""

import inspect
import os
from collections.abc import Mapping
from typing import Any

import httpx
from pydantic import BaseModel

from uploader.errors import ConfigurationError

MAX_TIMEOUT_S = 1e9
"""Thirty years; sockets refuse some tenfold of it."""


def check_hook(name: str, hook: object) -> None:
    """Let None and what can be called through.

    Raises:
        ConfigurationError: it is neither.
    """
    if hook is not None and not callable(hook):
        raise ConfigurationError(name, f"it must be a function or None, not {type(hook).__name__}")


def check_source(name: str, source: object, *, may_be_async: bool) -> None:
    """Let what can be iterated through, but for a single record, which would be taken apart.

    Raises:
        ConfigurationError: it is neither.
    """
    if _is_single(source):
        raise ConfigurationError(name, f"it is a single {type(source).__name__}: give a list, even of one")
    if hasattr(source, "__iter__") or hasattr(source, "__getitem__"):
        return
    if not hasattr(source, "__aiter__"):
        raise ConfigurationError(name, f"it must be iterable, such as a list, not {type(source).__name__}")
    if not may_be_async:
        raise ConfigurationError(name, "an asynchronous source needs the AsyncTracesClient")


def _is_single(source: object) -> bool:
    """Whether this is one record or one line. Iterating gives its keys, its fields or its bytes."""
    if isinstance(source, str | bytes | bytearray | memoryview | Mapping):
        return True
    if isinstance(source, BaseModel) and type(source).__iter__ is BaseModel.__iter__:
        return True
    return any(_is_callable_alone(getattr(source, name, None)) for name in ("iter_json", "to_json", "to_record"))


def _is_callable_alone(method: object) -> bool:
    """Whether it needs no argument, as a record's methods; a table's `to_json(path)` does."""
    if not callable(method):
        return False
    try:
        inspect.signature(method).bind()
    except TypeError:
        return False
    except ValueError:  # it is not written in Python, and does not say
        pass
    return True


def usable_path(name: str, path: object) -> str:
    """A path as text.

    Raises:
        ConfigurationError: it is none, or no file can have this name.
    """
    if not isinstance(path, str | os.PathLike):
        raise ConfigurationError(name, f"it must be a path, not {type(path).__name__}")
    text = os.fsdecode(path)
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        raise ConfigurationError(name, "it holds characters that no file name can have") from None
    if b"\0" in encoded or not text:
        raise ConfigurationError(name, "it is empty or holds a NUL character, which no file name does")
    return text


def usable_text(name: str, value: object) -> str:
    """A text that can be sent.

    Raises:
        ConfigurationError: it is no string, or not valid Unicode.
    """
    if not isinstance(value, str):
        raise ConfigurationError(name, f"it must be a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigurationError(name, "it is not valid Unicode: it holds a lone surrogate") from None
    return value


def usable_timeout(timeout: Any) -> httpx.Timeout:
    """Time limits as httpx's object: from it, from seconds, or from the four that httpx knows.

    Raises:
        ConfigurationError: one is no number of seconds above 0.
    """
    try:
        limits = httpx.Timeout(timeout)
        usable = not isinstance(timeout, tuple) or len(timeout) in (2, 3, 4)
        usable = usable and all(map(_is_time_limit, limits.as_dict().values()))
    except (TypeError, ValueError, AssertionError, IndexError):
        usable = False
    if not usable:
        raise ConfigurationError("timeout", f"it must be seconds above 0 or an httpx.Timeout, not {timeout!r}")
    return limits


def _is_time_limit(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_TIMEOUT_S


def check_transport(transport: object, method: str) -> None:
    """Let None and a transport that has a method through.

    Raises:
        ConfigurationError: it cannot be used by this client.
    """
    if transport is not None and not callable(getattr(transport, method, None)):
        kind = "an httpx.BaseTransport" if method == "handle_request" else "an httpx.AsyncBaseTransport"
        raise ConfigurationError("transport", f"it must be {kind}, not {type(transport).__name__}")
