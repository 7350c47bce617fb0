"""Root models: written as what they hold, by whatever writes that."""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel

from encoder.writers.base import UNKNOWN, Run, Steps, Writer

_ROOT: Final = "root"


class RootWriter(Writer):
    """Writes the instances of exactly one class."""

    __slots__ = ("_cls", "_inner")

    def __init__(self, cls: type[BaseModel], inner: Writer) -> None:
        """Args: the class, and the writer of what its instances hold."""
        self._cls = cls
        self._inner = inner

    def children(self) -> tuple[Writer, ...]:
        """The writer of what they hold."""
        return (self._inner,)

    def is_left(self) -> bool:
        """Whether what they hold is."""
        return self._inner.is_left()

    def most_left(self) -> int:
        """As of what they hold."""
        return self._inner.most_left()

    def _holds(self, value: Any) -> bool:
        return type(value) is self._cls and _ROOT in value.__dict__

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """What it holds; None where it holds nothing, not even None."""
        if type(value) is not self._cls:
            return ()
        return ((self._inner, value.__dict__[_ROOT]),) if self._holds(value) else None

    def simple(self, value: Any, run: Run) -> Any:
        """The simple form of what it holds."""
        return self._inner.simple(value.__dict__[_ROOT], run) if self._holds(value) else UNKNOWN

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """The steps that write what it holds."""
        if not self._holds(value):
            return None
        return self._inner.steps(value.__dict__[_ROOT], run, include, exclude, depth)
