"""The traces service on one machine: takes uploads, stores them durably and reads them back.

It follows the wire contract and imports nothing from the rest of the package. The names below are found when they are
first asked for, so that a missing extra can be said in a sentence.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uploader.receiver.app import create_app
    from uploader.receiver.errors import (
        DataDirInUseError,
        ReceiverError,
        ReceiverStartError,
        RequestRefusedError,
        UnusableSettingError,
    )
    from uploader.receiver.process import ReceiverProcess
    from uploader.receiver.server import serve
    from uploader.receiver.settings import API_KEY_VARIABLE, ReceiverSettings

__all__ = [
    "API_KEY_VARIABLE",
    "DataDirInUseError",
    "ReceiverError",
    "ReceiverProcess",
    "ReceiverSettings",
    "ReceiverStartError",
    "RequestRefusedError",
    "UnusableSettingError",
    "create_app",
    "serve",
]

_MODULES = ("errors", "settings", "process", "server", "app")
"""Where the names are, the quickest to import first."""


if not TYPE_CHECKING:  # a type checker would take every misspelling for a name

    def __getattr__(name: str) -> Any:
        if name in __all__:
            for module in _MODULES:
                found = getattr(import_module(f"uploader.receiver.{module}"), name, None)
                if found is not None:
                    globals()[name] = found
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
