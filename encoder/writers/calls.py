"""The calls of orjson and pydantic, and where the part of a value stands that made one of them fail."""

from collections.abc import Callable
from typing import Any, Final

import orjson
from pydantic import BaseModel

from encoder.blocks import MARK, PLACE
from encoder.schema import Serializer, extras_of, infer, is_model, is_root_model
from encoder.writers.base import MAX_DEPTH, SIMPLE_DEPTH, Label, Run, Unwritable

_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY

_COUNTED_MARK: Final = [orjson.Fragment(PLACE)]

# Stands for a value that cannot even be read: nobody writes it.
_UNREADABLE: Final = "\ud800"

# Simple values hold so few containers inside each other that up to here nothing needs to be counted.
SHALLOW: Final = MAX_DEPTH - 3 * SIMPLE_DEPTH


def dumps(value: Any, depth: int) -> bytes:
    """What orjson writes for a value that stands inside `depth` containers.

    Raises:
        Unwritable: the value cannot be written; its cause says why.
    """
    try:
        if depth <= SHALLOW:
            return orjson.dumps(value, option=_OPTIONS)
        # Counting is left to orjson: it sees as many containers as the whole record has here.
        wrapped = _counted(value)
        for _ in range(depth):
            wrapped = [wrapped]
        return orjson.dumps(wrapped, option=_OPTIONS)[depth:-depth]
    except (TypeError, ValueError, RecursionError) as error:
        raise Unwritable(locate(value, dumps_alone)) from error


def _counted(value: Any) -> Any:
    """A simple value, each of its columns in a list: orjson counts no container where it writes a mark."""
    if value is MARK:
        return _COUNTED_MARK
    if type(value) is dict:
        return {key: _counted(item) for key, item in value.items()}
    return list(map(_counted, value)) if type(value) is list else value


def dumped(
    serializer: Serializer, value: Any, run: Run, *, include: Any = None, exclude: Any = None, suspect: Any = None
) -> Any:
    """What pydantic makes of a value.

    Args:
        serializer: of the value's declared type.
        value: what is dumped.
        run: the state of this encoding.
        include: the specification for this value.
        exclude: the specification for this value.
        suspect: the part of the value that is at fault if this fails; the value itself where there is none.

    Raises:
        Unwritable: pydantic refuses it; its cause says why.
    """
    try:
        return serializer.to_python(value, mode="json", include=include, exclude=exclude, **run.arguments)
    except Exception as error:  # a serializer of the user's may raise anything
        raise Unwritable(locate(value if suspect is None else suspect, infer(run.arguments))) from error
    except BaseException as error:
        if not is_panic(error):
            raise
        raise Unwritable(()) from error


def is_panic(error: BaseException) -> bool:
    """Whether pydantic's native code gave up, as when a dict grows while it dumps it; that is no `Exception`."""
    return type(error).__module__ == "pyo3_runtime"


def dumps_alone(value: Any) -> bytes:
    """What orjson writes for a value by itself."""
    return orjson.dumps(value, option=_OPTIONS)


def is_writable_key(key: object) -> bool:
    """Whether pydantic leaves a key as it is: exactly a str, and no lone surrogate in it."""
    if type(key) is not str:
        return False
    if key.isascii():
        return True
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True


def locate(value: Any, write: Callable[[Any], object]) -> tuple[Label, ...]:
    """Where inside a value the first part stands that cannot be written by itself."""
    path: list[Label] = []
    above: list[Any] = []
    while len(path) <= MAX_DEPTH and not any(value is container for container in above):
        above.append(value)
        found = next((item for item in _children(value) if not _can(write, item[1])), None)
        if found is None:
            break
        label, value = found
        path.append(label)
    return tuple(path)


def _children(value: Any) -> list[tuple[Label, Any]]:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return list(enumerate(value))
    if is_root_model(value):
        return _children(value.root)
    members = value if kind is dict else _members_of(value) if is_model(value) else {}
    return [(key, item) for key, item in members.items() if isinstance(key, str)]


def _members_of(model: BaseModel) -> dict[str, Any]:
    """The fields of a model, what it was given besides, and its computed fields, as they are read now."""
    extras = extras_of(model)
    members = {**model.__dict__, **(extras if isinstance(extras, dict) else {})}
    for name in type(model).model_computed_fields:
        try:
            members[name] = getattr(model, name)
        except Exception:  # noqa: BLE001 - whatever a property raises
            members[name] = _UNREADABLE
    return members


def _can(write: Callable[[Any], object], value: Any) -> bool:
    try:
        write(value)
    except Exception:  # noqa: BLE001 - whatever it raises is why the value cannot be written
        return False
    except BaseException as error:
        if not is_panic(error):
            raise
        return False
    return True
