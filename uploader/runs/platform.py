"""The platform's requests about runs, as flows without sockets or threads.

CONTRACT: "Creating a run is not repeatable after an ambiguous failure; metrics and finalize are." So opening is tried
again only after 429 and 503, which refuse before any work; all else is repeated like an upload. "409 = already closed":
whoever closed the run, it is closed, so to closing that is a success.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import orjson
from pydantic import BaseModel, Field

from uploader.config import Config, load_config
from uploader.errors import APIError, ConfigurationError, RetryableAPIError
from uploader.exchange import RECEIPT_BODY_BYTES, Request, Response
from uploader.flow import Flow, Jitter, read_flow
from uploader.multipart import Body
from uploader.responses import model_from
from uploader.retry import RetryPolicy, Sleep
from uploader.runs.endings import Ending, Status
from uploader.runs.spec import RunSpec

_BEFORE_ANY_WORK: Final = frozenset({429, 503})
_ALREADY_CLOSED: Final = 409
_MAX_MESSAGE_CHARS: Final = 4096

PLATFORM_VARIABLE: Final = "PRIME_API_BASE_URL"

PATIENT: Final = RetryPolicy(max_attempts=1_000_000_000)
"""For metrics: tried for as long as the run lives."""


def configured_platform() -> str | None:
    """The platform's address that the environment names; None if it names none.

    Raises:
        ConfigurationError: it cannot be used.
    """
    url = os.environ.get(PLATFORM_VARIABLE)
    try:
        return load_config("", url, "").base_url if url else None
    except ConfigurationError as error:
        raise ConfigurationError(PLATFORM_VARIABLE, error.reason) from None


@dataclass(frozen=True)
class Opened:
    """A run on the platform.

    Attributes:
        id: its id.
        name: what the platform calls it.
        url: where people look at it, None if the platform does not say.
    """

    id: str
    name: str | None = None
    url: str | None = None


class TrainingRun(BaseModel):
    """What is said of a training run that was opened."""

    id: str = Field(min_length=1)
    name: str | None = None


class TrainingOpened(BaseModel):
    """The answer to opening a training run."""

    run: TrainingRun


class EvaluationOpened(BaseModel):
    """The answer to opening an evaluation."""

    evaluation_id: str = Field(min_length=1)
    name: str | None = None
    viewer_url: str | None = None


class Platform:
    """Makes the flows for one account.

    Attributes:
        config: whom to talk to, and as whom.
    """

    def __init__(self, config: Config, jitter: Jitter) -> None:
        self.config = config
        self._jitter = jitter

    def open(self, spec: RunSpec) -> Flow[Opened]:
        """Open a run.

        Raises:
            APIError: it was refused; or it is unknown whether a run was opened, and another try could open a second.
        """
        path, body = _opening(spec)
        response = yield from self._send_once("POST", path, body)
        if spec.kind == "train":
            run = model_from(response, TrainingOpened, self.config.api_key).run
            return Opened(run.id, run.name or spec.name)
        found = model_from(response, EvaluationOpened, self.config.api_key)
        return Opened(found.evaluation_id, found.name or spec.name, found.viewer_url)

    def add_metrics(
        self, kind: str, run_id: str, values: Mapping[str, Any], policy: RetryPolicy = PATIENT
    ) -> Flow[None]:
        """Add a row of metrics to a training run; of an evaluation the metrics are values without a history."""
        if kind == "train":
            yield from self._send("POST", "/rft/metrics", {"run_id": run_id, "metrics": values}, policy)
        else:
            yield from self._send("PUT", f"/evaluations/{quote(run_id, safe='')}", {"metrics": values}, policy)

    def close(self, kind: str, run_id: str, ending: Ending) -> Flow[None]:
        """Close a run.

        Raises:
            APIError: it was refused, and the run is not closed already.
        """
        try:
            yield from self._close(kind, run_id, ending)
        except APIError as error:
            if error.status_code != _ALREADY_CLOSED:
                raise

    def _close(self, kind: str, run_id: str, ending: Ending) -> Flow[None]:
        completed = ending.status is Status.COMPLETED
        reason = {"error_message": ending.error[:_MAX_MESSAGE_CHARS]} if ending.error else {}
        if kind == "train" and completed:
            yield from self._send("POST", "/rft/finalize", {"run_id": run_id, "exit_code": 0})
        elif kind == "train":
            # There is no status for a run that was cancelled.
            if ending.status is Status.CANCELLED:
                reason = {"error_message": f"cancelled: {ending.error}" if ending.error else "cancelled"}
            body = {"status": "failed", **reason}
            yield from self._send("PUT", f"/rft/external-runs/{quote(run_id, safe='')}/status", body)
        elif completed:
            path = f"/evaluations/{quote(run_id, safe='')}/finalize"
            yield from self._send("POST", path, {"metrics": ending.summary})
        else:
            path = f"/evaluations/{quote(run_id, safe='')}"
            if ending.summary:  # alone: a closed run refuses a status with all that comes beside it
                yield from self._send("PUT", path, {"metrics": ending.summary})
            yield from self._send("PUT", path, {"status": ending.status.upper(), **reason})

    def _send(
        self, method: str, path: str, body: Mapping[str, Any], policy: RetryPolicy | None = None
    ) -> Flow[Response]:
        request = self._request(method, path, body)
        return (yield from read_flow(request, None, self.config, policy or RetryPolicy(), self._jitter))

    def _send_once(self, method: str, path: str, body: Mapping[str, Any]) -> Flow[Response]:
        policy = RetryPolicy()
        while True:
            try:
                return (yield from self._send(method, path, body, RetryPolicy(max_attempts=1)))
            except RetryableAPIError as error:
                retry = None
                if error.status_code in _BEFORE_ANY_WORK:
                    retry = policy.after_failure(error.retry_after, self._jitter())
                if retry is None:
                    raise
                policy, sleep = retry.policy, Sleep(retry.delay_s, retry.policy.failures, error)
            yield sleep

    def _request(self, method: str, path: str, body: Mapping[str, Any]) -> Request:
        content = Body((orjson.dumps(body),), "application/json")
        headers = {**self.config.headers(), **content.headers}
        return Request(method, self.config.url(path), (), headers, content, RECEIPT_BODY_BYTES)


def _opening(spec: RunSpec) -> tuple[str, dict[str, Any]]:
    """The path and the body that open a run."""
    optional: dict[str, Any]
    if spec.kind == "train":
        body: dict[str, Any] = {
            "base_model": spec.model,
            "max_steps": 0,  # unknown, unless the configuration names it
            "environments": spec.environments,
            "team_id": spec.team,
            **spec.numbers,
        }
        optional = {"name": spec.name, "run_config": spec.config or None}
        path = "/rft/external-runs"
    else:
        body = {"name": spec.name or _default_name(spec), "environments": spec.environments, "tags": spec.tags}
        optional = {"model_name": spec.model, "metadata": spec.config or None, "team_id": spec.team or None}
        path = "/evaluations/"
    return path, body | {name: value for name, value in optional.items() if value is not None}


def _default_name(spec: RunSpec) -> str:
    stem = spec.environments[0]["id"] if spec.environments else "eval"
    return f"{stem}-{uuid4().hex[:8]}"
