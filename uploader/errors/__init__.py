"""What can go wrong while uploading.

UploaderError                       receipts: what was committed all the same
├── ConfigurationError              an option, a setting or its file cannot be used
│   └── MissingAPIKeyError          there is no key, so there is no request
├── RecordError                     a record cannot become a line
├── TraceTooLargeError              a line is beyond the service's limit
├── RecordsError                    several records had to be left out
├── SpoolError                      the spool's disk did not do what was asked
│   ├── SpoolFullError              no room: its own bound, or the disk's
│   ├── SpoolLockedError            another process uses the folder
│   └── DamagedBatchError           a file is not what was written
├── StoreError                      an object store, or a folder, did not do what was asked
│   ├── StoreBusyError              429, 503: it asks for fewer requests
│   └── StoreRefusedError           it takes nothing from these credentials, or from this user
├── RunError                        a run lost something, or could not be opened or closed
│   └── RunFinishedError            it has ended, and was logged to
└── APIError                        the service refused, or could not be understood
    ├── ValidationRejectedError     400, 422: these bytes will never be taken
    ├── UnauthorizedError           401: the key is refused
    ├── PaymentRequiredError        402
    ├── ForbiddenError              403: the key lacks a scope, or the service is off for the account
    ├── NotFoundError               404
    ├── LineFormatConflictError     409: the same bytes were once sent under another line format
    ├── TraceNotIndexedError        409: nodes and calls cannot be listed yet
    ├── PayloadTooLargeError        413: a gateway takes no body of this size
    ├── RedirectError               3xx: the service is somewhere else
    ├── InvalidAnswerError          2xx with a body that the contract does not allow
    ├── RetryableAPIError           408, 429, 5xx: the same bytes may be sent again
    └── TransportError              no answer: refused, reset, cut short
        └── APITimeoutError         no answer in time
"""

from uploader.errors.base import ConfigurationError, MissingAPIKeyError, UploaderError
from uploader.errors.frames import clear_frames
from uploader.errors.records import RecordError, RecordFailure, RecordsError, TraceTooLargeError
from uploader.errors.runs import RunError, RunFinishedError
from uploader.errors.service import (
    APIError,
    APITimeoutError,
    ForbiddenError,
    InvalidAnswerError,
    LineFormatConflictError,
    NotFoundError,
    PayloadTooLargeError,
    PaymentRequiredError,
    RedirectError,
    RetryableAPIError,
    TraceNotIndexedError,
    TransportError,
    UnauthorizedError,
    ValidationRejectedError,
)
from uploader.errors.spool import DamagedBatchError, SpoolError, SpoolFullError, SpoolLockedError
from uploader.errors.stores import StoreBusyError, StoreError, StoreRefusedError

__all__ = [
    "APIError",
    "APITimeoutError",
    "ConfigurationError",
    "DamagedBatchError",
    "ForbiddenError",
    "InvalidAnswerError",
    "LineFormatConflictError",
    "MissingAPIKeyError",
    "NotFoundError",
    "PayloadTooLargeError",
    "PaymentRequiredError",
    "RecordError",
    "RecordFailure",
    "RecordsError",
    "RedirectError",
    "RetryableAPIError",
    "RunError",
    "RunFinishedError",
    "SpoolError",
    "SpoolFullError",
    "SpoolLockedError",
    "StoreBusyError",
    "StoreError",
    "StoreRefusedError",
    "TraceNotIndexedError",
    "TraceTooLargeError",
    "TransportError",
    "UnauthorizedError",
    "UploaderError",
    "ValidationRejectedError",
    "clear_frames",
]
