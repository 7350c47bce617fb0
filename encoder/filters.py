"""Include and exclude specifications, where their meaning is plain; the rest is pydantic's to read.

Pydantic's rules have many corners (`__all__` beside an index, indices modulo the length, odd values). Two forms are
what people write: a set or dict of field names, and, for a list, `{"__all__": ...}` or indices. These are read here, so
that a filtered record is still written step by step. `Unclear` is raised for all others, and whoever asked hands the
value to pydantic together with its specification, which is exact by definition.
"""

from typing import Any, Final

# What a filter says of one member: whether it is written, and the specifications that go on inside of it.
Kept = tuple[bool, Any, Any]

_ALL: Final = "__all__"
_DROPPED: Final[Kept] = (False, None, None)

# Of what stands where no filter applies: written, whole.
WHOLE: Final[Kept] = (True, None, None)


class Unclear(Exception):  # noqa: N818 - a signal, not an error
    """The specification is none of the plain forms."""


class NameFilter:
    """What include and exclude say of the fields of one model."""

    __slots__ = ("_exclude", "_include")

    def __init__(self, include: Any, exclude: Any) -> None:
        """Args: the two specifications of the model.

        Raises:
            Unclear: one of them is no set or dict of names.
        """
        self._include = _plain(include, str)
        self._exclude = _plain(exclude, str)
        if (self._include and _ALL in self._include) or (self._exclude and _ALL in self._exclude):
            raise Unclear

    def of(self, key: str) -> Kept:
        """What is said of one field."""
        return _of(self._include, self._exclude, key)


class IndexFilter:
    """What include and exclude say of the items of one list."""

    __slots__ = ("_exclude", "_include")

    def __init__(self, include: Any, exclude: Any, length: int) -> None:
        """Args: the two specifications of the list, and its length: indices count modulo it.

        Raises:
            Unclear: one of them is no set or dict of indices, nor `{"__all__": ...}` alone.
        """
        self._include = _indices(include, length)
        self._exclude = _indices(exclude, length)

    def of(self, index: int) -> Kept:
        """What is said of one item."""
        include = _at(self._include, index)
        exclude = _at(self._exclude, index)
        return _of(include, exclude, index)


def _plain(specification: Any, key_type: type) -> dict[Any, Any] | None:
    """The specification as a dict of key to ... or a nested specification."""
    if specification is None:
        return None
    if type(specification) is set:
        plain: dict[Any, Any] = dict.fromkeys(specification, ...)
    elif type(specification) is dict:
        plain = dict(specification)
    else:
        raise Unclear
    for key, value in plain.items():
        if type(key) is not key_type and key != _ALL:
            raise Unclear
        if value is True:
            plain[key] = ...
        elif value is not ... and type(value) not in (set, dict):
            raise Unclear
    return plain


def _indices(specification: Any, length: int) -> dict[Any, Any] | None:
    plain = _plain(specification, int)
    if plain is None or not plain:
        return plain
    if _ALL in plain:
        if len(plain) > 1:
            raise Unclear
        return plain
    if not length:
        return {}
    counted = {key % length: value for key, value in plain.items()}
    if len(counted) != len(plain):
        raise Unclear
    return counted


def _at(plain: dict[Any, Any] | None, index: int) -> dict[Any, Any] | None:
    if plain is not None and _ALL in plain:
        return {index: plain[_ALL]}
    return plain


def _of(include: dict[Any, Any] | None, exclude: dict[Any, Any] | None, key: str | int) -> Kept:
    next_include = next_exclude = None
    if exclude is not None:
        next_exclude = exclude.get(key)
        if next_exclude is ...:
            return _DROPPED
    if include is not None:
        if key not in include:
            return _DROPPED
        next_include = include[key]
        if next_include is ...:
            next_include = None
    return WHOLE if next_include is None and next_exclude is None else (True, next_include, next_exclude)
