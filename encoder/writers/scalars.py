"""Numbers, truth values and text: written by orjson as they are, where their type is exactly the declared one."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from encoder.compiled import native
from encoder.writers.base import HEAVY, SCALAR_WEIGHT, TEXT_SLICE, UNKNOWN, Run, Steps, Variant, Writer
from encoder.writers.calls import dumps

if TYPE_CHECKING:
    from encoder._native import Node


_LITERALS: Final = frozenset({str, int, bool})


class ScalarWriter(Writer):
    """Values of one exact type that cost next to nothing: int, float, bool, None."""

    __slots__ = ("exact",)

    def __init__(self, exact: type) -> None:
        """Args: the one type that is written as it stands."""
        self.exact = exact

    def simple(self, value: Any, run: Run) -> Any:
        """The value itself; a bool where an int is declared is pydantic's to coerce."""
        if type(value) is self.exact:
            run.weight += SCALAR_WEIGHT
            return value
        return UNKNOWN

    def node(self, variant: Variant) -> "Node | None":
        """Values of the type."""
        return native.scalar(self.exact)


class LiteralWriter(Writer):
    """One of a few known texts or integers."""

    __slots__ = ("_expected", "texts")

    def __init__(self, expected: Sequence[object]) -> None:
        """Args: the values that are declared."""
        # All of them, where all are texts.
        texts = [value for value in expected if type(value) is str]
        self.texts = frozenset(texts) if len(texts) == len(expected) else None
        self._expected = frozenset((type(value), value) for value in expected if type(value) in _LITERALS)

    def _is_expected(self, value: Any) -> bool:
        """Whether a value is one of the declared ones."""
        kind = type(value)
        return kind in _LITERALS and (kind, value) in self._expected

    def inside(self, value: Any) -> Iterable[tuple[Writer, Any]] | None:
        """Nothing; None for a text or number that is not declared, which pydantic minds in a union."""
        return None if type(value) in _LITERALS and not self._is_expected(value) else ()

    def simple(self, value: Any, run: Run) -> Any:
        """The value itself, where it is one of the declared ones."""
        if self._is_expected(value):
            run.weight += SCALAR_WEIGHT
            return value
        return UNKNOWN

    def node(self, variant: Variant) -> "Node | None":
        """The texts."""
        return None if self.texts is None else native.literal(self.texts)


class TextWriter(Writer):
    """Text; a long one in slices. Every character is escaped by itself, so slices concatenate exactly."""

    __slots__ = ("_most",)

    def __init__(self, *, simple: bool = True) -> None:
        """Args: whether a text may have a simple form."""
        self._most = TEXT_SLICE if simple else -1

    def simple(self, value: Any, run: Run) -> Any:
        """The text itself, unless it is long."""
        if type(value) is not str:
            return UNKNOWN
        length = len(value)
        if length > self._most:
            return HEAVY
        run.weight += length
        return value if value.isascii() else copied(value)

    def node(self, variant: Variant) -> "Node | None":
        """Texts."""
        return native.text()

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Write a text slice by slice."""
        return write_text(value, run) if type(value) is str else None


def copied(text: str) -> str:
    """An equal text that is another object: what orjson writes keeps its UTF-8 for as long as it lives."""
    return text[:1] + text[1:]


def unshared(texts: Collection[str]) -> Collection[str]:
    """The texts themselves, if they have no other form in UTF-8, or ones like them."""
    return texts if "".join(texts).isascii() else [text if text.isascii() else copied(text) for text in texts]


def write_text(value: str, run: Run) -> Steps:
    """Write a long text, one slice a step."""
    out = run.out
    out.append(b'"')
    for start in range(0, len(value), TEXT_SLICE):
        out.append(dumps(value[start : start + TEXT_SLICE], 0)[1:-1])
        yield None
    out.append(b'"')
