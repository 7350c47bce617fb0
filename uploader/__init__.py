"""Upload encoded episodes and traces without ever blocking the event loop.

The names below are found when they are first asked for, so that a part of this package that does without the clients
(the receiver, a command's help) does not wait for what they import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uploader.async_client import AsyncTracesClient
    from uploader.client import TracesClient
    from uploader.errors import (
        APIError,
        APITimeoutError,
        ConfigurationError,
        DamagedBatchError,
        ForbiddenError,
        InvalidAnswerError,
        LineFormatConflictError,
        MissingAPIKeyError,
        NotFoundError,
        PayloadTooLargeError,
        PaymentRequiredError,
        RecordError,
        RecordFailure,
        RecordsError,
        RedirectError,
        RetryableAPIError,
        RunError,
        RunFinishedError,
        SpoolError,
        SpoolFullError,
        SpoolLockedError,
        StoreBusyError,
        StoreError,
        StoreRefusedError,
        TraceNotIndexedError,
        TraceTooLargeError,
        TransportError,
        UnauthorizedError,
        UploaderError,
        ValidationRejectedError,
    )
    from uploader.models import (
        Batch,
        EpisodeDetail,
        EpisodeError,
        EpisodeListPage,
        EpisodeSummary,
        EpisodeTraceAggregate,
        Execution,
        LineFormat,
        ModelInfo,
        NodeMessage,
        Page,
        RunListPage,
        RunStep,
        RunStepList,
        RunSummary,
        Score,
        TraceCall,
        TraceCallPage,
        TraceListPage,
        TraceNode,
        TraceNodePage,
        TraceSummary,
        UploadReceipt,
    )
    from uploader.options import RecordHook, UploadArguments
    from uploader.retry import Sleep
    from uploader.runs import Run, RunReport, init
    from uploader.sinks.files import FileSink
    from uploader.sinks.store import ObjectStoreSink
    from uploader.sinks.traces import TracesSink
    from uploader.spool.aside import SetAside
    from uploader.spool.room import SpoolLimits
    from uploader.worker.stats import WorkerReport, WorkerStats
    from uploader.worker.worker import UploadWorker

__all__ = [
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
]

_MODULES = (
    "errors",
    "models",
    "options",
    "retry",
    "client",
    "async_client",
    "sinks.traces",
    "sinks.files",
    "sinks.store",
    "runs",
    "spool.room",
    "worker.stats",
    "worker.worker",
)
"""Where the names are, the quickest to import first."""


if not TYPE_CHECKING:  # a type checker would take every misspelling for a name

    def __getattr__(name: str) -> Any:
        if name in __all__:
            for module in _MODULES:
                found = getattr(import_module(f"uploader.{module}"), name, None)
                if found is not None:
                    globals()[name] = found
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
