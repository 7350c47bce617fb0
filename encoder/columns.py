"""Per-token columns: pydantic types that are lists in JSON and one-dimensional numpy arrays in memory.

`IntColumn`, `BoolColumn` and `FloatColumn` annotate a field; `encoder.arrays` tells what they take and keep.
In JSON a column is the list that its serializer returns. `COLUMN_KINDS` tells the encoder, by serializer, what an array
holds, so that it can write the same bytes without that list.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from pydantic import PlainSerializer, PlainValidator, SerializationInfo, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue

from encoder.arrays import (
    to_bool_column,
    to_expert_array,
    to_float_column,
    to_int_column,
)

FLOAT_DECIMALS: Final = 4
"""How many digits of a per-token float a record keeps, unless the context says otherwise."""


def dump_ints(column: Any) -> list[int]:
    """The list that an `IntColumn` is in JSON."""
    return _listed(column)


def dump_bools(column: Any) -> list[bool]:
    """The list that a `BoolColumn` is in JSON."""
    return _listed(column)


def dump_floats(column: Any, info: SerializationInfo) -> list[float]:
    """The list that a `FloatColumn` is in JSON, rounded as `float_decimals` says."""
    decimals = float_decimals(info.context)
    values = _listed(column)
    return values if decimals is None else [round(value, decimals) for value in values]


def float_decimals(context: object) -> int | None:
    """The digits that a dump's context asks for, 4 if it does not say; None means every digit."""
    if isinstance(context, Mapping):
        decimals: int | None = context.get("float_decimals", FLOAT_DECIMALS)
        return decimals
    return FLOAT_DECIMALS


def _listed(column: Any) -> list[Any]:
    """Return the values of a column as a list; `model_construct` may have left a list in its place."""
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


class ColumnKind(IntEnum):
    """What a column holds."""

    INTS = 0
    BOOLS = 1
    FLOATS = 2


COLUMN_KINDS: Final[dict[Callable[..., Any], ColumnKind]] = {
    dump_ints: ColumnKind.INTS,
    dump_bools: ColumnKind.BOOLS,
    dump_floats: ColumnKind.FLOATS,
}
"""The kind of each column type, by the serializer function that stands in its core schema."""


def _array_of(items: JsonSchemaValue) -> JsonSchemaValue:
    return {"type": "array", "items": items}


IntColumn = Annotated[
    npt.NDArray[np.integer[Any]],
    PlainValidator(to_int_column),
    PlainSerializer(dump_ints, when_used="json"),
    WithJsonSchema(_array_of({"type": "integer"})),
]
"""Integers, such as token ids: int32 where all fit, else int64 or uint64."""

BoolColumn = Annotated[
    npt.NDArray[np.bool_],
    PlainValidator(to_bool_column),
    PlainSerializer(dump_bools, when_used="json"),
    WithJsonSchema(_array_of({"type": "boolean"})),
]
"""Flags, such as a mask."""

FloatColumn = Annotated[
    npt.NDArray[np.floating[Any]],
    PlainValidator(to_float_column),
    PlainSerializer(dump_floats, when_used="json"),
    WithJsonSchema(_array_of({"type": ["number", "null"]})),
]
"""Floats in the width they were given, rounded in JSON; NaN and the infinities are null there."""

ExpertArray = Annotated[
    npt.NDArray[np.uint8],
    PlainValidator(to_expert_array),
    WithJsonSchema(_array_of(_array_of(_array_of({"type": "integer"})))),
]
"""Expert ids, uint8 of shape (tokens, layers, top_k); not for JSON."""
