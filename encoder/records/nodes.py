"""Message nodes: each message of a trace once, with the tokens it adds to its branch."""

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from encoder.columns import BoolColumn, ExpertArray, FloatColumn, IntColumn
from encoder.conditions import pure
from encoder.records.messages import Message, Tool
from encoder.schema import extras_of, private_of


class ArrayModel(BaseModel):
    """A model that holds arrays: assignments convert lists, and models with equal arrays are equal."""

    model_config = ConfigDict(validate_assignment=True)

    def __eq__(self, other: object) -> bool:
        """Whether both are of one class and hold the same; arrays by value, NaN equal to NaN."""
        if type(self) is not type(other) or not isinstance(other, ArrayModel):
            return NotImplemented
        mine, theirs = self.__dict__, other.__dict__
        return (
            mine.keys() == theirs.keys()
            and extras_of(self) == extras_of(other)
            and private_of(self) == private_of(other)
            and all(_same(value, theirs[name]) for name, value in mine.items())
        )

    __hash__ = None  # type: ignore[assignment]


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f")
    if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
        return False
    return bool(mine == theirs)


class ParentLink(BaseModel):
    """A link to another node that is no predecessor, such as a subagent's return."""

    node: int
    type: str


class SamplingMask(ArrayModel):
    """The token ids that sampling could choose from, one row per sampled token, end to end.

    Attributes:
        ids: int32, all rows one after another.
        counts: int32, the length of each row.
    """

    ids: IntColumn
    counts: IntColumn


def _no_ints() -> npt.NDArray[np.int32]:
    return np.empty(0, dtype=np.int32)


def _no_flags() -> npt.NDArray[np.bool_]:
    return np.empty(0, dtype=np.bool_)


def _no_floats() -> npt.NDArray[np.float64]:
    return np.empty(0, dtype=np.float64)


@pure
def _is_empty(items: list[Any]) -> bool:
    return not items


class MessageNode(ArrayModel):
    """One message, and the token columns that belong to it.

    `token_ids`, `mask` and `is_content` have a value per token; the float columns have one per sampled token.
    """

    parent: int | None = None
    """Index of the predecessor among the trace's nodes."""
    tools: list[Tool] = Field(default_factory=list, exclude_if=_is_empty)
    semantic_parents: list[ParentLink] = Field(default_factory=list)
    message: Message
    sampled: bool = False
    """Whether a model call produced the message."""
    timestamp: float = Field(default_factory=time.time)
    """Epoch seconds."""
    token_ids: IntColumn = Field(default_factory=_no_ints)
    mask: BoolColumn = Field(default_factory=_no_flags)
    is_content: BoolColumn = Field(default_factory=_no_flags)
    logprobs: FloatColumn = Field(default_factory=_no_floats)
    advantages: FloatColumn | None = None
    reference_logprobs: FloatColumn | None = None
    trainer_logprobs: FloatColumn | None = None
    entropies: FloatColumn | None = None
    loss_weights: dict[str, list[float]] | None = None
    routed_experts: ExpertArray | None = Field(default=None, exclude=True)
    sampling_mask: SamplingMask | None = Field(default=None, exclude=True)
