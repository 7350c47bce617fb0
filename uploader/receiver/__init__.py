"""The traces service on one machine: takes uploads, stores them durably and reads them back.

It follows the wire contract and imports nothing from the rest of the package.
"""

from uploader.receiver.app import create_app
from uploader.receiver.errors import DataDirInUseError, ReceiverError, ReceiverStartError, RequestRefusedError
from uploader.receiver.process import ReceiverProcess
from uploader.receiver.server import serve
from uploader.receiver.settings import ReceiverSettings

__all__ = [
    "DataDirInUseError",
    "ReceiverError",
    "ReceiverProcess",
    "ReceiverSettings",
    "ReceiverStartError",
    "RequestRefusedError",
    "create_app",
    "serve",
]
