"""Message nodes: columns on assignment, equality, and what is never written."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from encoder.records import MessageNode, SamplingMask, UserMessage


def node(**fields: Any) -> MessageNode:
    fields = {"message": UserMessage(content="hello"), "timestamp": 1.0, "token_ids": [1, 2], **fields}
    return MessageNode(**fields)


def test_assignment_converts_and_keeps_the_message() -> None:
    made = node()
    message = made.message
    made.advantages = [0.5, None]  # type: ignore[assignment]
    assert isinstance(made.advantages, np.ndarray)
    assert made.message is message
    with pytest.raises(ValidationError, match="advantages"):
        made.advantages = ["x"]  # type: ignore[assignment]


def test_equal_nodes() -> None:
    assert node() == node()
    assert node(logprobs=[0.5, math.nan]) == node(logprobs=[0.5, math.nan])
    assert node(token_ids=np.array([1, 2], dtype=np.int64)) == node(token_ids=[1, 2])
    assert node(sampling_mask=SamplingMask(ids=[1], counts=[1])) == node(
        sampling_mask=SamplingMask(ids=[1], counts=[1])
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"token_ids": [1, 3]},
        {"token_ids": [1]},
        {"logprobs": [0.5]},
        {"advantages": []},
        {"sampled": True},
        {"message": UserMessage(content="bye")},
        {"routed_experts": np.zeros((2, 1, 1), dtype=np.uint8)},
        {"sampling_mask": SamplingMask(ids=[1], counts=[1])},
        {"loss_weights": {"a": [1.0, 2.0]}},
    ],
)
def test_unequal_nodes(fields: dict[str, Any]) -> None:
    assert node(**fields) != node()


def test_a_node_equals_nothing_else() -> None:
    assert node() != 1
    assert node() != SamplingMask(ids=[], counts=[])
    assert node() != node().model_dump()


def test_nodes_are_not_hashable() -> None:
    with pytest.raises(TypeError):
        hash(node())


def test_copies() -> None:
    made = node(logprobs=np.array([0.1, math.nan], dtype=np.float32), advantages=[1.0])
    for twin in (
        copy.copy(made),
        copy.deepcopy(made),
        made.model_copy(),
        made.model_copy(deep=True),
        pickle.loads(pickle.dumps(made)),
    ):
        assert twin == made
        assert twin.logprobs.dtype == np.float32
    deep = copy.deepcopy(made)
    deep.token_ids[0] = 9
    assert made.token_ids[0] == 1


def test_tensors_are_never_written() -> None:
    made = node(routed_experts=np.zeros((2, 3, 4), dtype=np.uint8), sampling_mask={"ids": [1, 2], "counts": [2]})
    assert made.sampling_mask is not None
    assert made.sampling_mask.ids.dtype == np.int32
    for mode in ("json", "python"):
        assert not {"routed_experts", "sampling_mask"} & made.model_dump(mode=mode).keys()


@pytest.mark.parametrize("experts", [np.zeros((2, 2), dtype=np.uint8), [[[256]]], [[[-1]]], [[[0.5]]]])
def test_routed_experts_are_three_dimensions_of_bytes(experts: Any) -> None:
    with pytest.raises(ValidationError, match="routed experts"):
        node(routed_experts=experts)


def test_routed_experts_from_lists() -> None:
    made = node(routed_experts=[[[0, 255]]])
    assert made.routed_experts is not None
    assert made.routed_experts.dtype == np.uint8


def test_tools_are_left_out_when_empty() -> None:
    assert "tools" not in node().model_dump(mode="json")
    assert node(tools=[{"name": "t"}]).model_dump(mode="json")["tools"][0]["name"] == "t"
