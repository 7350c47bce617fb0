"""Synthetic episodes: their size, their shape, and that the seed decides everything."""

import numpy as np
import orjson
import pytest

from encoder.records import Episode, ToolMessage
from encoder.synthetic import synthetic_episode
from encoder.synthetic_text import POOL_CHARS, cut, pools


@pytest.mark.parametrize("tokens_per_node", [40, 900, 8000])
@pytest.mark.parametrize("target_bytes", [1_000_000, 10_000_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_size(tokens_per_node: int, target_bytes: int, seed: int) -> None:
    if tokens_per_node == 8000 and target_bytes == 1_000_000:
        target_bytes = 5_000_000  # 20 nodes
    episode = synthetic_episode(seed, target_bytes=target_bytes, tokens_per_node=tokens_per_node)
    assert len(episode.to_json()) == pytest.approx(target_bytes, rel=0.1)


@pytest.mark.parametrize("sampled_fraction", [0.0, 0.2, 0.5, 1.0])
def test_shape(sampled_fraction: float) -> None:
    episode = synthetic_episode(3, num_nodes=200, tokens_per_node=50, sampled_fraction=sampled_fraction)
    (trace,) = episode.traces
    assert len(trace.nodes) == 200
    assert sum(node.sampled for node in trace.nodes) == pytest.approx(200 * sampled_fraction, abs=1)
    assert len(trace.calls) == sum(node.sampled for node in trace.nodes)
    for position, node in enumerate(trace.nodes):
        assert node.parent is None if position == 0 else (node.parent or 0) < position
        assert len(node.mask) == len(node.is_content) == len(node.token_ids)
        assert len(node.logprobs) == node.mask.sum()
        assert (node.advantages is not None) == node.sampled == (node.message.role == "assistant")
    assert np.mean([len(node.token_ids) for node in trace.nodes]) == pytest.approx(50, rel=0.05)


def test_it_branches_and_calls_tools() -> None:
    (trace,) = synthetic_episode(4, num_nodes=1000, tokens_per_node=10).traces
    assert any(node.parent != position - 1 for position, node in enumerate(trace.nodes) if position)
    assert any(isinstance(node.message, ToolMessage) for node in trace.nodes)
    assert trace.num_input_tokens > 0


def test_the_seed_decides_everything() -> None:
    def text(seed: int) -> bytes:
        return synthetic_episode(seed, num_nodes=30, tokens_per_node=100).to_json()

    assert text(5) == text(5)
    assert text(5) != text(6)
    first, second = (synthetic_episode(seed, num_nodes=1) for seed in (5, 6))
    assert len({first.id, second.id, first.traces[0].id, second.traces[0].id}) == 4


@pytest.mark.every_path
@pytest.mark.parametrize("num_nodes", [0, 1, 2, 40])
def test_it_is_a_record(num_nodes: int) -> None:
    episode = synthetic_episode(7, num_nodes=num_nodes, tokens_per_node=30)
    text = episode.to_json()
    assert text == orjson.dumps(episode.to_record(), option=orjson.OPT_SERIALIZE_NUMPY)
    assert Episode.model_validate_json(text).to_json() == text
    assert orjson.loads(episode.traces[0].to_json()) == orjson.loads(orjson.dumps(episode.traces[0].to_record()))


def test_by_default_it_is_of_median_size() -> None:
    assert len(synthetic_episode(8).to_json()) == pytest.approx(6_400_000, rel=0.1)


def test_arguments() -> None:
    with pytest.raises(ValueError, match="not both"):
        synthetic_episode(0, target_bytes=1, num_nodes=1)
    for bad in ({"num_nodes": -1}, {"tokens_per_node": 0}, {"sampled_fraction": 1.5}, {"target_bytes": -1}):
        with pytest.raises(ValueError, match="must be"):
            synthetic_episode(0, **bad)


def test_cuts() -> None:
    assert cut("abc", 4, 5) == "bcabc"
    assert cut("abc", 1, 2) == "bc"
    assert cut("abc", 0, 0) == ""
    assert all(len(pool) == POOL_CHARS for pool in pools())
    assert len(cut(pools().code, 5, 3 * POOL_CHARS)) == 3 * POOL_CHARS
