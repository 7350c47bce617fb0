"""The platform's requests about runs: training runs and evaluations are opened, reported on and closed."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from uploader.receiver import registry
from uploader.receiver.answers import Answer
from uploader.receiver.errors import RequestRefusedError
from uploader.receiver.run_requests import (
    Evaluation,
    EvaluationEnd,
    EvaluationUpdate,
    Metrics,
    TrainingEnd,
    TrainingRun,
    TrainingStatus,
    parse_body,
    plain,
)
from uploader.receiver.store import Store


@dataclass(frozen=True)
class RunRequest:
    """One request.

    Attributes:
        run_id: the id in its path, empty where there is none.
        body: all of it.
        url: its address without the query.
    """

    run_id: str
    body: bytes
    url: str


RunAction = Callable[[Store, RunRequest], Answer]


def _open_training(store: Store, request: RunRequest) -> Answer:
    spec = parse_body(request.body, TrainingRun)
    name = spec.name or f"{spec.base_model}-training"
    return {"run": {"id": registry.register(store, "train", name, plain(spec)), "name": name}}


def _read_training(store: Store, request: RunRequest) -> Answer:
    return registry.read(store, request.run_id, "train")


def _add_metrics(store: Store, request: RunRequest) -> Answer:
    body = parse_body(request.body, Metrics)
    registry.add_metrics(store, body.run_id, body.metrics)
    return {"status": "ok"}


def _finalize_training(store: Store, request: RunRequest) -> Answer:
    body = parse_body(request.body, TrainingEnd)
    if body.exit_code:
        status, reason = "failed", f"exit code {body.exit_code}"
        registry.close(store, body.run_id, "train", status, error_message=reason, repeatable=True)
    else:
        status = registry.COMPLETED
        registry.close(store, body.run_id, "train", status, repeatable=True)
    return {"run_id": body.run_id, "status": status}


def _set_training_status(store: Store, request: RunRequest) -> Answer:
    body = parse_body(request.body, TrainingStatus)
    registry.close(store, request.run_id, "train", body.status, error_message=body.error_message)
    return {"run_id": request.run_id, "status": body.status}


def _open_evaluation(store: Store, request: RunRequest) -> Answer:
    spec = parse_body(request.body, Evaluation)
    evaluation_id = registry.register(store, "eval", spec.name, plain(spec))
    return {
        "evaluation_id": evaluation_id,
        "name": spec.name,
        "viewer_url": f"{request.url.rstrip('/')}/{evaluation_id}",
    }


def _read_evaluation(store: Store, request: RunRequest) -> Answer:
    return registry.read(store, request.run_id, "eval")


def _update_evaluation(store: Store, request: RunRequest) -> Answer:
    body = parse_body(request.body, EvaluationUpdate)
    changes = plain(body)
    if body.status is None:
        registry.update(store, request.run_id, changes)
    else:
        status = body.status.lower()
        registry.close(store, request.run_id, "eval", status, error_message=body.error_message, changes=changes)
    return {"evaluation_id": request.run_id}


def _finalize_evaluation(store: Store, request: RunRequest) -> Answer:
    changes = plain(parse_body(request.body or b"{}", EvaluationEnd))
    registry.close(store, request.run_id, "eval", registry.COMPLETED, changes=changes, repeatable=True)
    return {"evaluation_id": request.run_id, "status": registry.COMPLETED}


RUN_ROUTES: Final[dict[str, dict[str, RunAction]]] = {
    "/rft/external-runs": {"POST": _open_training},
    "/rft/external-runs/{id}": {"GET": _read_training},
    "/rft/external-runs/{id}/status": {"PUT": _set_training_status},
    "/rft/metrics": {"POST": _add_metrics},
    "/rft/finalize": {"POST": _finalize_training},
    "/evaluations": {"POST": _open_evaluation},
    "/evaluations/": {"POST": _open_evaluation},
    "/evaluations/{id}": {"GET": _read_evaluation, "PUT": _update_evaluation},
    "/evaluations/{id}/finalize": {"POST": _finalize_evaluation},
}
"""For each path what each method does. Opening a run answers 201, all else 200."""

OPENING: Final = frozenset({_open_training, _open_evaluation})


def answer(action: RunAction, store: Store, request: RunRequest, retry_after_s: float) -> Answer:
    """Do what is asked; what is answered is on the disk.

    Raises:
        RequestRefusedError: with a code; nothing was changed.
    """
    try:
        return action(store, request)
    except (OSError, sqlite3.Error) as error:
        raise RequestRefusedError(
            "storage_unavailable",
            f"The run could not be stored ({type(error).__name__}): look at the log and the disk.",
            retry_after_s,
        ) from error
