"""Model calls: usage and sampling settings."""

import pytest

from encoder.records import ModelCall, SamplingConfig, Usage


@pytest.mark.parametrize(("cached", "total_in"), [(None, 10), (0, 10), (5, 15)])
def test_usage(cached: int | None, total_in: int) -> None:
    usage = Usage(prompt_tokens=10, completion_tokens=3, cached_input_tokens=cached, reasoning_tokens=2)
    assert usage.input_tokens == total_in
    assert usage.total_tokens == total_in + 3


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_both_names_of_max_tokens_are_read(name: str) -> None:
    config = SamplingConfig.model_validate({"seed": 1, name: 100})
    assert config.max_tokens == 100
    assert list(config.model_dump(exclude_none=True)) == ["max_tokens", "seed"]


def test_defaults() -> None:
    record = ModelCall().model_dump(mode="json")
    assert record.pop("time") == {"start": 0.0, "end": 0.0}
    assert set(record.values()) == {None}
