"""What may be logged: a mapping is a row of metrics, everything else is a record or several."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from operator import index
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from pydantic import BaseModel

from encoder import Trace, iter_json
from uploader.errors import ConfigurationError

Kind: TypeAlias = Literal["train", "eval"]
Subset: TypeAlias = Literal["all", "effective"]

_KINDS: Final = get_args(Kind)
_SUBSETS: Final = get_args(Subset)
_WAYS: Final = ("iter_json", "to_json", "to_record")
_BYTES: Final = (bytes, bytearray, memoryview)


class Where(NamedTuple):
    """What logged data belong to.

    Attributes:
        step: of the training.
        kind: whether they are of training or of an evaluation.
        subset: `all` rollouts, or those that are `effective`: that the training uses.
    """

    step: int
    kind: Kind = "train"
    subset: Subset = "all"

    def qualify(self, name: str) -> str:
        """A metric's name where there is one list of names for all.

        Those of an evaluation begin with `eval/`, those of the effective subset with `effective/`, unless they do so
        already: `reward` of an evaluation would be one curve with `reward` of the training.
        """
        for prefix in ("effective/" if self.subset == "effective" else "", "eval/" if self.kind == "eval" else ""):
            if not name.startswith(prefix):
                name = prefix + name
        return name


def usable_where(step: object, kind: object, subset: object) -> Where:
    """Where data belong, checked.

    Raises:
        ConfigurationError: one of the three cannot be used.
    """
    try:
        number = index(step)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 0 or isinstance(step, bool):
        raise ConfigurationError("step", f"it must be a whole number, 0 or more, not {step!r}")
    if kind not in _KINDS:
        raise ConfigurationError("kind", f"it must be {' or '.join(map(repr, _KINDS))}, not {kind!r}")
    if subset not in _SUBSETS:
        raise ConfigurationError("subset", f"it must be {' or '.join(map(repr, _SUBSETS))}, not {subset!r}")
    return Where(number, kind, subset)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A pydantic model that does not say itself how it is written."""

    model: BaseModel

    def iter_json(self) -> Iterator[bytes]:
        """The pieces of its JSON."""
        return iter_json(self.model)


def sorted_out(data: object) -> dict[str, Any] | list[Any]:
    """A row of metrics, as a dict of its own; or records, as a list of their own.

    Raises:
        ConfigurationError: the data are neither.
    """
    if isinstance(data, Mapping):
        return dict(data)
    if _kind_of(type(data)) is not _Kind.OTHER:
        return _all_as_records([data])
    if isinstance(data, Iterable) and not isinstance(data, str):
        return _all_as_records(list(data))
    raise ConfigurationError(
        "data", f"it must be a mapping of metrics, a record, or several records, not {type(data).__name__}"
    )


def is_trace(record: object) -> bool:
    """Whether a record is a trace of its own, and no episode."""
    if isinstance(record, Mapping):
        return "nodes" in record and "traces" not in record
    return isinstance(record, Trace)


class _Kind(Enum):
    """What the instances of a class are."""

    RECORD = "a record, or a line, that says how it is written"
    MODEL = "a pydantic model that does not"
    OTHER = "neither"


_KINDS_BY_CLASS: Final[dict[type, _Kind]] = {}
_MAX_CLASSES: Final = 256


def _kind_of(cls: type) -> _Kind:
    """What the instances of a class are. It is found out once: with cold caches that takes a twentieth millisecond."""
    kind = _KINDS_BY_CLASS.get(cls)
    if kind is None:
        if issubclass(cls, _BYTES) or any(callable(getattr(cls, way, None)) for way in _WAYS):
            kind = _Kind.RECORD
        else:
            kind = _Kind.MODEL if issubclass(cls, BaseModel) else _Kind.OTHER
        if len(_KINDS_BY_CLASS) < _MAX_CLASSES:
            _KINDS_BY_CLASS[cls] = kind
    return kind


def _all_as_records(records: list[Any]) -> list[Any]:
    """The same list, in which models that do not say how they are written now do."""
    # Asked of each class, not of each record: of 10,000 episodes that takes a tenth of a millisecond.
    silent = {cls for cls in set(map(type, records)) if _kind_of(cls) is _Kind.MODEL}
    if silent:
        records[:] = [ModelRecord(record) if type(record) in silent else record for record in records]
    return records
