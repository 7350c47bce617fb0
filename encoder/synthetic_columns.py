"""Token columns for synthetic nodes, drawn for a whole episode at once."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

_VOCABULARY: Final = 151_936
_SCAFFOLD_TOKENS: Final = 3
"""How many tokens of each node belong to the chat template."""

Floats = npt.NDArray[np.float32]


class NodeColumns(NamedTuple):
    """One node's columns; the float columns have a value per sampled token."""

    token_ids: npt.NDArray[np.int32]
    mask: npt.NDArray[np.bool_]
    is_content: npt.NDArray[np.bool_]
    logprobs: Floats
    advantages: Floats | None


def draw_columns(random: np.random.Generator, sampled: npt.NDArray[np.bool_], num_tokens: int) -> list[NodeColumns]:
    """Draw the columns of an episode's nodes.

    Args:
        random: where chance comes from.
        sampled: for each node, whether it is sampled.
        num_tokens: how many tokens the nodes have together, give or take one a node; lengths vary by a fifth.
    """
    weights = random.uniform(0.8, 1.2, len(sampled))
    lengths = np.maximum(1, np.rint(weights * (num_tokens / weights.sum()))).astype(np.int64)
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    # Low ids are frequent, as in a vocabulary that is sorted by merges.
    token_ids = (random.random(total, dtype=np.float32) ** 3 * _VOCABULARY).astype(np.int32)
    is_content = np.arange(total) - np.repeat(ends - lengths, lengths) >= _SCAFFOLD_TOKENS
    mask = is_content & np.repeat(sampled, lengths)
    float_ends = np.cumsum(np.maximum(0, lengths - _SCAFFOLD_TOKENS) * sampled)
    num_floats = int(float_ends[-1])
    # Most sampled tokens were likely ones; hardly any is below -10.
    certainty = random.random(num_floats, dtype=np.float32) ** 3
    logprobs = -random.standard_exponential(num_floats, dtype=np.float32) * certainty
    advantages = np.full(num_floats, random.normal(), dtype=np.float32)

    columns: list[NodeColumns] = []
    start = float_start = 0
    for end, float_end, is_sampled in zip(ends.tolist(), float_ends.tolist(), sampled.tolist(), strict=True):
        # Copies, so that each node owns its memory, as in a real episode.
        ours = NodeColumns(
            token_ids[start:end].copy(),
            mask[start:end].copy(),
            is_content[start:end].copy(),
            logprobs[float_start:float_end].copy(),
            advantages[float_start:float_end].copy() if is_sampled else None,
        )
        columns.append(ours)
        start, float_start = end, float_end
    return columns
