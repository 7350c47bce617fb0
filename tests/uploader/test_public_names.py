"""What `uploader` offers, pinned: adding to it is a decision, and taking away breaks somebody."""

import inspect
import subprocess
import sys
from typing import Any

import prime_traces
import pytest

import uploader

NAMES = {
    "APIError",
    "APITimeoutError",
    "AsyncTracesClient",
    "Batch",
    "ConfigurationError",
    "DamagedBatchError",
    "EpisodeDetail",
    "EpisodeError",
    "EpisodeListPage",
    "EpisodeSummary",
    "EpisodeTraceAggregate",
    "Execution",
    "FileSink",
    "ForbiddenError",
    "InvalidAnswerError",
    "LineFormat",
    "LineFormatConflictError",
    "MissingAPIKeyError",
    "ModelInfo",
    "NodeMessage",
    "NotFoundError",
    "ObjectStoreSink",
    "Page",
    "PayloadTooLargeError",
    "PaymentRequiredError",
    "RecordError",
    "RecordFailure",
    "RecordHook",
    "RecordsError",
    "RedirectError",
    "RetryableAPIError",
    "Run",
    "RunError",
    "RunFinishedError",
    "RunListPage",
    "RunReport",
    "RunStep",
    "RunStepList",
    "RunSummary",
    "Score",
    "SetAside",
    "Sleep",
    "SpoolError",
    "SpoolFullError",
    "SpoolLimits",
    "SpoolLockedError",
    "StoreBusyError",
    "StoreError",
    "StoreRefusedError",
    "TraceCall",
    "TraceCallPage",
    "TraceListPage",
    "TraceNode",
    "TraceNodePage",
    "TraceNotIndexedError",
    "TraceSummary",
    "TraceTooLargeError",
    "TracesClient",
    "TracesSink",
    "TransportError",
    "UnauthorizedError",
    "UploadArguments",
    "UploadReceipt",
    "UploadWorker",
    "UploaderError",
    "ValidationRejectedError",
    "WorkerReport",
    "WorkerStats",
    "init",
}

TYPE_ALIASES = {"RecordFailure", "RecordHook"}
"""What they say stands in the source alone."""

METHODS = {
    "download_episode_raw",
    "download_raw",
    "get",
    "get_episode",
    "get_episode_raw",
    "get_raw",
    "get_run",
    "iter",
    "iter_episodes",
    "iter_runs",
    "list",
    "list_calls",
    "list_episode_traces",
    "list_episodes",
    "list_nodes",
    "list_run_steps",
    "list_runs",
    "upload_file",
    "upload_lines",
    "upload_records",
}


def public(thing: Any) -> set[str]:
    return {name for name, _ in inspect.getmembers(thing, inspect.isfunction) if not name.startswith("_")}


def test_the_facade_is_what_it_says() -> None:
    assert set(uploader.__all__) == NAMES
    assert all(getattr(uploader, name).__doc__ for name in NAMES - TYPE_ALIASES)


def test_both_clients_do_the_same() -> None:
    assert public(uploader.TracesClient) == METHODS | {"close"}
    assert public(uploader.AsyncTracesClient) == METHODS | {"aclose"}
    for name in METHODS:
        sync, other = (
            inspect.signature(getattr(cls, name)) for cls in (uploader.TracesClient, uploader.AsyncTracesClient)
        )
        assert list(sync.parameters) == list(other.parameters)


def imported_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_using_it_imports_nothing_of_an_extra() -> None:
    found = imported_by("from uploader import *")
    assert {"uploader.client", "httpx"} <= found
    # Not rich: httpx imports it where it is installed.
    assert not found & {"typer", "msgspec", "starlette", "uvicorn", "python_multipart"}


def test_what_is_not_used_is_not_imported() -> None:
    assert not imported_by("import uploader.errors") & {"httpx", "pydantic", "numpy", "encoder"}


def test_names_that_do_not_exist() -> None:
    assert set(dir(uploader)) >= NAMES
    with pytest.raises(AttributeError, match="TraceClient"):
        _ = uploader.TraceClient  # type: ignore[attr-defined]


def test_names_of_the_public_client_are_the_same() -> None:
    shared = {name for name in prime_traces.__all__ if hasattr(uploader, name)}
    assert shared >= {"APIError", "Batch", "LineFormat", "TracesClient", "TransportError", "UploadReceipt"}
    for name in (
        "TraceSummary",
        "EpisodeDetail",
        "RunSummary",
        "RunStepList",
        "TraceNode",
        "TraceCall",
        "UploadReceipt",
    ):
        assert list(getattr(uploader, name).model_fields) == list(getattr(prime_traces, name).model_fields)
