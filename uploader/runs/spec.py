"""What a run is: the arguments of `init` that describe it, checked."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import orjson

from uploader.arguments import usable_text
from uploader.errors import ConfigurationError
from uploader.runs.identity import RunKind

_NUMBERS_OF_TRAINING = ("max_steps", "batch_size", "rollouts_per_example", "seq_len")
"""What the platform shows of a training run beside its configuration, and takes from there."""


@dataclass(frozen=True)
class RunSpec:
    """What a run is for.

    Attributes:
        kind: whether it trains or evaluates.
        name: for people; None for none.
        model: the model that is trained or evaluated.
        environments: each with an `id`.
        tags: labels, for people.
        config: the settings of the run.
        team: the team that it is for, empty for none.
    """

    kind: RunKind
    name: str | None = None
    model: str | None = None
    environments: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    team: str = ""

    @property
    def obstacle(self) -> ConfigurationError | None:
        """Why the platform would not open it."""
        if self.kind == "eval":
            return None
        if not self.model:
            return ConfigurationError("model", "the platform opens a training run only for a model: name it")
        if not self.team:
            reason = "the platform opens a training run only for a team: pass team_id or set PRIME_TEAM_ID"
            return ConfigurationError("team_id", reason)
        return None

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of a training run that its configuration names."""
        found = {name: self.config.get(name) for name in _NUMBERS_OF_TRAINING}
        return {name: value for name, value in found.items() if type(value) is int}


def run_spec(kind: Any, name: Any, model: Any, environments: Any, tags: Any, config: Any, team: str) -> RunSpec:
    """Check what describes a run.

    Raises:
        ConfigurationError: a value cannot be used.
    """
    if kind not in get_args(RunKind):
        raise ConfigurationError("kind", f"it must be 'train' or 'eval', not {kind!r}")
    return RunSpec(
        kind=kind,
        name=None if name is None else usable_text("name", name),
        model=None if model is None else usable_text("model", model),
        environments=tuple(_environment(each) for each in _listed("environments", environments)),
        tags=tuple(usable_text("tags", tag) for tag in _listed("tags", tags)),
        config=_config(config),
        team=team,
    )


def _listed(option: str, values: Any) -> Sequence[Any]:
    if values is None:
        return ()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence):
        raise ConfigurationError(option, f"it must be a list, even of one, not {type(values).__name__}")
    return values


def _environment(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping) and isinstance(value.get("id"), str):
        return _jsonable("environments", value)
    if isinstance(value, str):
        return {"id": usable_text("environments", value)}
    raise ConfigurationError("environments", f"each must be an id, or a mapping with an `id`, not {value!r}")


def _config(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigurationError("config", f"it must be a mapping, not {type(value).__name__}")
    return _jsonable("config", value)


def _jsonable(option: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping as JSON values of its own: what the caller changes later is not sent."""
    try:
        text = orjson.dumps(dict(value), default=_plain, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    except TypeError as error:
        raise ConfigurationError(option, f"it cannot be written as JSON: {error}") from None
    plain: dict[str, Any] = orjson.loads(text)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no JSON")
