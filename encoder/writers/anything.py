"""Values under `Any`: JSON's own types as they stand, others by what pydantic infers."""

from typing import Any, Final

from encoder.schema import Serializer
from encoder.writers.base import HEAVY, MAX_WEIGHT, UNKNOWN, Run, Steps, Writer
from encoder.writers.calls import dumped
from encoder.writers.plain import weigh, write_tree

_WALKED: Final = (dict, list, str)


class AnyWriter(Writer):
    """Writes what stands under `Any`, or what an `extra="allow"` model was given besides its fields."""

    __slots__ = ("_serializer",)

    depth = 32

    def __init__(self, serializer: Serializer) -> None:
        """Args: `serializer` infers how to write a value that is none of JSON's own types."""
        self._serializer = serializer

    def simple(self, value: Any, run: Run) -> Any:
        """The tree itself where all of it is of JSON's own types, and small."""
        room = weigh(value, MAX_WEIGHT, strict=True)
        if room >= 0:
            run.weight += MAX_WEIGHT - room
            return value
        return HEAVY if type(value) in _WALKED else UNKNOWN

    def steps(self, value: Any, run: Run, include: Any, exclude: Any, depth: int) -> Steps | None:
        """Walk the tree; a part of it that is none of JSON's own types is dumped by pydantic, by itself."""
        if include is not None or exclude is not None or type(value) not in _WALKED:
            return None
        return write_tree(value, run, depth, self.foreign)

    def foreign(self, value: Any, run: Run) -> Any:
        """What pydantic makes of a value by inference."""
        return dumped(self._serializer, value, run)
