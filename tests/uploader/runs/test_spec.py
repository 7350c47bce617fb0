"""What describes a run, checked before anything is done with it."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from uploader.errors import ConfigurationError
from uploader.runs.spec import RunSpec, run_spec

GOOD: dict[str, Any] = {
    "kind": "train",
    "name": "n",
    "model": "m",
    "environments": ["gsm8k", {"id": "math", "version_id": "3"}],
    "tags": ("a",),
    "config": {"lr": 1e-6},
    "team": "team",
}


def test_what_can_be_used() -> None:
    spec = run_spec(**GOOD)
    environments = ({"id": "gsm8k"}, {"id": "math", "version_id": "3"})
    assert spec == RunSpec("train", "n", "m", environments, ("a",), {"lr": 1e-6}, "team")
    nothing: dict[str, Any] = dict.fromkeys(GOOD)
    assert run_spec(**nothing | {"kind": "eval", "team": ""}) == RunSpec("eval")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("kind", "test"),
        ("kind", None),
        ("name", 5),
        ("name", "\ud800"),
        ("model", b"m"),
        ("environments", "gsm8k"),
        ("environments", {"id": "gsm8k"}),
        ("environments", [5]),
        ("environments", [{"name": "x"}]),
        ("environments", [{"id": "x", "y": object()}]),
        ("tags", "nightly"),
        ("tags", [1]),
        ("config", "file.toml"),
        ("config", {"a": object()}),
    ],
)
def test_what_cannot(option: str, value: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        run_spec(**GOOD | {option: value})
    assert caught.value.option == option


def test_a_configuration_is_taken_as_it_is_now() -> None:
    class Model(BaseModel):
        size: int = 4

    @dataclass
    class Data:
        x: int = 1

    config = {"model": Model(), "data": Data(), "at": PurePosixPath("/a"), "n": np.float32(0.5), 5: [1], "inner": {}}
    spec = run_spec(**GOOD | {"config": config})
    config["inner"] = {"changed": 1}
    assert spec.config == {"model": {"size": 4}, "data": {"x": 1}, "at": "/a", "n": 0.5, "5": [1], "inner": {}}


def test_what_the_platform_needs() -> None:
    assert run_spec(**GOOD).obstacle is None
    assert RunSpec("eval").obstacle is None
    for option, field in (("model", "model"), ("team_id", "team")):
        obstacle = run_spec(**GOOD | {field: "" if field == "team" else None}).obstacle
        assert obstacle is not None
        assert obstacle.option == option


def test_numbers_of_a_training_run_are_found_in_its_configuration() -> None:
    config = {"max_steps": 5, "batch_size": True, "seq_len": "8k", "rollouts_per_example": 8, "other": 1}
    assert run_spec(**GOOD | {"config": config}).numbers == {"max_steps": 5, "rollouts_per_example": 8}
