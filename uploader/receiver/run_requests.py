"""What a producer says of its runs: the bodies of the platform's requests, checked."""

from typing import Any, Final, Literal, TypeVar

import msgspec

from uploader.receiver.errors import RequestRefusedError

#: A body holds a run's whole configuration at most.
MAX_BODY_BYTES: Final = 8 * 1024 * 1024

BodyT = TypeVar("BodyT", bound="Body")


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request's JSON object; fields that are not named here are let through and forgotten."""


class EnvironmentReference(Body, frozen=True, kw_only=True):
    """One environment of a run."""

    id: str
    version_id: str | None = None


class TrainingRun(Body, frozen=True, kw_only=True):
    """`POST /rft/external-runs`."""

    base_model: str
    max_steps: int
    environments: list[EnvironmentReference]
    team_id: str
    name: str | None = None
    batch_size: int | None = None
    rollouts_per_example: int | None = None
    seq_len: int | None = None
    run_config: dict[str, Any] | None = None


class Metrics(Body, frozen=True, kw_only=True):
    """`POST /rft/metrics`."""

    run_id: str
    metrics: dict[str, Any]


class TrainingEnd(Body, frozen=True, kw_only=True):
    """`POST /rft/finalize`."""

    run_id: str
    exit_code: int = 0


class TrainingStatus(Body, frozen=True, kw_only=True):
    """`PUT /rft/external-runs/{id}/status`."""

    status: Literal["completed", "failed"]
    error_message: str | None = None


class Evaluation(Body, frozen=True, kw_only=True):
    """`POST /evaluations/`."""

    name: str
    environments: list[EnvironmentReference] = []
    tags: list[str] = []
    model_name: str | None = None
    framework: str | None = None
    description: str | None = None
    metadata: dict[str, Any] | None = None
    team_id: str | None = None


class EvaluationUpdate(Body, frozen=True, kw_only=True):
    """`PUT /evaluations/{id}`."""

    metadata: dict[str, Any] | None = None
    metrics: dict[str, Any] | None = None
    status: Literal["FAILED", "CANCELLED"] | None = None
    error_message: str | None = None


class EvaluationEnd(Body, frozen=True, kw_only=True):
    """`POST /evaluations/{id}/finalize`."""

    metrics: dict[str, Any] = {}


def parse_body(data: bytes, body: type[BodyT]) -> BodyT:
    """Read a body.

    Raises:
        RequestRefusedError: `invalid_run`, when it is not JSON or not of this shape.
    """
    try:
        return msgspec.json.decode(data, type=body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestRefusedError("invalid_run", f"The body is not a {body.__name__}: {error}.") from error


def plain(body: Body) -> dict[str, Any]:
    """A body as JSON values, without what was not given."""
    values: dict[str, Any] = msgspec.to_builtins(body)
    return values
