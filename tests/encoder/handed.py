"""What each step of an encoding hands to calls that cannot give way: how many items, characters and bytes.

Times say something about the machine; sizes say what the encoder does. While it encodes, the C functions that take
input of any length are replaced by ones that note how much they were handed, and a profile function notes which
methods of text, bytes, arrays and containers were called on how long an object, and how many calls there were at all: a
loop over everything in one step shows as that.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Final

import numpy as np
import orjson
import pytest
from pydantic import BaseModel

from encoder import blocks, floats, pumps
from encoder.columns import ColumnKind
from encoder.compiled import IS_COMPILED, native
from encoder.writers import anything, calls, columns, dicts, instances, left, models, unions

# Methods that take no longer where the object is long.
_AT_ONCE: Final = frozenset(
    {"append", "clear", "discard", "get", "isascii", "items", "keys", "pop", "popleft", "setdefault", "values", "view"}
    | {"extend", "update", "add", "astype"}
)
_SIZED: Final = (str, bytes, list, dict, set, frozenset, np.ndarray)


@dataclass
class Step:
    """What happened between two moments at which the encoder could give way.

    Attributes:
        weight: how much was handed to orjson: its characters, 8 for each item, what a column's values weigh.
        heaviest: the same, of the call that was handed most.
        text: how long the longest text was that was handed to it alone.
        column: for each kind, how long the longest column was that was handed to it alone.
        floats: how many values were handed to the function that writes columns of floats.
        row: how many bytes the compiled part wrote, at most, by one call.
        dumped: how many items or members of one container were handed to pydantic, at most, by one call.
        leaves: how many values that are no containers, in all, at most, by one call.
        calls: how many calls there were, of Python and C functions.
        longest: for each method, how long the longest object was that it was called on.
    """

    weight: int = 0
    heaviest: int = 0
    text: int = 0
    column: Counter[ColumnKind] = field(default_factory=Counter)
    floats: int = 0
    row: int = 0
    dumped: int = 0
    leaves: int = 0
    calls: int = 0
    longest: Counter[str] = field(default_factory=Counter)


class Recorder:
    """Notes every step of the encodings that begin while it is installed."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._now = Step()

    def watched(self, steps: Iterator[bytes]) -> Iterator[bytes]:
        """The same steps, each of them noted."""
        while True:
            self._now = Step()
            around = sys.getprofile()
            sys.setprofile(self._profile)
            try:
                piece = next(steps, None)
            finally:
                sys.setprofile(around)
            self.steps.append(self._now)
            if piece is None:
                return
            yield piece

    def _profile(self, frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            self._now.calls += 1
        elif event == "c_call":
            self._now.calls += 1
            owner = getattr(arg, "__self__", None)
            if isinstance(owner, _SIZED) and arg.__name__ not in _AT_ONCE:
                size = owner.size if isinstance(owner, np.ndarray) else len(owner)
                name = f"{type(owner).__name__}.{arg.__name__}"
                if owner is not floats.float_cells():
                    self._now.longest[name] = max(self._now.longest[name], size)

    def orjson_dumps(self, value: Any, *arguments: Any, **options: Any) -> bytes:
        """Stands for orjson's."""
        profile = sys.getprofile()
        sys.setprofile(None)
        now, weight = self._now, weight_of(value)
        now.weight += weight
        now.heaviest = max(now.heaviest, weight)
        if isinstance(value, str):
            now.text = max(now.text, len(value))
        elif isinstance(value, np.ndarray):
            now.column[kind_of(value)] = max(now.column[kind_of(value)], value.size)
        sys.setprofile(profile)
        return _dumps(value, *arguments, **options)

    def float_texts(self, columns: Any, decimals: Any) -> list[bytes]:
        """Stands for the one of `encoder.floats`."""
        self._now.floats += sum(map(len, columns))
        return _float_texts(columns, decimals)

    def write_row(self, *arguments: Any) -> tuple[bytes, int]:
        """Stands for the compiled part's."""
        text, end = _write_row(*arguments)
        self._now.row = max(self._now.row, len(text))
        return text, end

    def column_text(self, column: Any, kind: int) -> bytes | None:
        """Stands for the compiled part's."""
        now, known = self._now, ColumnKind(kind)
        now.column[known] = max(now.column[known], column.size)
        return _column_text(column, kind)

    def dumped(self, serializer: Any, value: Any, *arguments: Any, **options: Any) -> Any:
        """Stands for the one of `encoder.writers.calls`."""
        profile = sys.getprofile()
        sys.setprofile(None)
        part = options.get("suspect")
        handed = value if part is None else part
        self._now.dumped = max(self._now.dumped, len(handed) if isinstance(handed, list | dict) else 1)
        self._now.leaves = max(self._now.leaves, leaves_of(handed))
        sys.setprofile(profile)
        return _dumped(serializer, value, *arguments, **options)


_dumps, _float_texts, _dumped = orjson.dumps, floats.float_texts, calls.dumped
if IS_COMPILED:
    _write_row, _column_text = native.write_row, native.column_text


def kind_of(column: "np.ndarray[Any, Any]") -> ColumnKind:
    """What an array holds."""
    return {"b": ColumnKind.BOOLS, "f": ColumnKind.FLOATS}.get(column.dtype.kind, ColumnKind.INTS)


def weight_of(value: Any) -> int:
    """What a value that is handed to orjson weighs, counted anew: characters, 8 for each item of a container."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, np.ndarray):
        return value.size * columns.COLUMN_WEIGHTS[kind_of(value)]
    if isinstance(value, dict):
        return sum(8 + len(key) + weight_of(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return 8 * len(value) + sum(weight_of(item) for item in value if isinstance(item, str | list | tuple | dict))
    return 8


def leaves_of(value: Any) -> int:
    """How many values that are no containers a value holds."""
    if isinstance(value, dict):
        return sum(map(leaves_of, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return sum(map(leaves_of, value))
    if isinstance(value, np.ndarray):
        return value.size
    return leaves_of(vars(value)) if isinstance(value, BaseModel) or is_dataclass(value) else 1


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Record what is handed over inside of the `with` block."""
    recorder = Recorder()
    with monkeypatch.context() as patch:
        patch.setattr(orjson, "dumps", recorder.orjson_dumps)
        patch.setattr(blocks, "float_texts", recorder.float_texts)
        if IS_COMPILED:
            patch.setattr(native, "write_row", recorder.write_row)
            patch.setattr(native, "column_text", recorder.column_text)
        patch.setattr(pumps, "watched", recorder.watched)
        patch.setattr(left, "perf_counter", lambda: 0.0)  # as if every call were quick: sizes alone keep them short
        for module in (anything, dicts, instances, left, models, unions):
            patch.setattr(module, "dumped", recorder.dumped)
        yield recorder
