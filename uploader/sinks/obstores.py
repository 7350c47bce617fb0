"""The one place that opens stores of `obstore` (extra `stores`), and says in our words what went wrong with them.

`obstore` is imported when the first store is opened. It does not repeat requests for us: the queue of a sink does, at
the pace that suits all that waits.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from uploader.errors import (
    ConfigurationError,
    PayloadTooLargeError,
    StoreBusyError,
    StoreError,
    StoreRefusedError,
    UploaderError,
)
from uploader.sinks.places import Place, PlaceKind

if TYPE_CHECKING:
    from obstore.store import ObjectStore

TIMEOUT: Final = "15min"
"""For one request as a whole; whoever makes requests sets a shorter limit that depends on their size."""
CONNECT_TIMEOUT: Final = "10s"

_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "s3": {
        "endpoint": ("endpoint", "aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint", "endpoint_url"),
        "region": ("region", "aws_region"),
    },
    "gs": {"endpoint": ("base_url", "google_base_url")},
    "az": {
        "endpoint": ("endpoint", "azure_storage_endpoint", "azure_endpoint"),
        "account": ("account_name", "azure_storage_account_name"),
    },
}
"""For what an address may say: what obstore calls it, then under which names else a configuration may have it; in
capitals those are the environment's."""

_IDENTITY: Final = ("endpoint", "account")
"""Without these the same address would be another place in another shell."""

_REFUSED: Final = frozenset({401, 403})
_REFUSED_CODES: Final = frozenset({"ExpiredToken", "InvalidToken", "TokenRefreshRequired"})
"""Of credentials, though S3 says 400."""
_BUSY: Final = frozenset({429, 503})
_TOO_LARGE: Final = 413

_REFUSED_TYPES: Final = frozenset({"PermissionDeniedError", "UnauthenticatedError"})

_STATUS: Final = re.compile(r"status(?: code)?:? (\d{3})\b")
_CODE: Final = re.compile(r"<Code>(\w+)</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]{1,300})")
_KIND: Final = re.compile(r"\bkind: (\w+)")
_QUERY: Final = re.compile(r"(https?://[^\s?]+)\?\S*")

_user: int | None = None
"""The process that obstore's threads are in; they stay there when it forks."""


@dataclass(frozen=True)
class StoreAccess:
    """How a store is got at, beside its address.

    Attributes:
        config: settings by obstore's names, secrets among them.
        client_options: of the HTTP client, by obstore's names.
        credential_provider: gives credentials when they are asked for.
        max_retries: how often a request is repeated.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    client_options: Mapping[str, Any] = field(default_factory=dict)
    credential_provider: Any = None
    max_retries: int = 0


def obstore_module() -> ModuleType:
    """The package, imported.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "obstore":
            raise
        reason = "an object store needs the package obstore: pip install 'unstall[stores]'"
        raise ConfigurationError("url", reason) from None
    return obstore


def whole_place(place: Place, config: Mapping[str, Any]) -> Place:
    """A store's place with what the configuration or the environment says of where it is."""
    if place.kind is not PlaceKind.STORE:
        return place
    options = dict(place.options)
    for option, names in _OPTIONS[place.family].items():
        if option in _IDENTITY and option not in options and (value := _setting(names, config)):
            options[option] = value
    return replace(place, options=options)


def _setting(names: tuple[str, ...], config: Mapping[str, Any]) -> str:
    lower = {key.lower(): value for key, value in config.items()}
    found = [lower.get(name) for name in names] + [os.environ.get(name.upper()) for name in names[1:]]
    return next((value for value in found if isinstance(value, str) and value), "")


def open_store(place: Place, access: StoreAccess) -> "ObjectStore":
    """A store at a place that `whole_place` gave.

    Raises:
        ConfigurationError: the settings cannot be used, or obstore is not installed.
    """
    obstore = obstore_module()
    try:
        if place.kind is PlaceKind.FOLDER:
            local: ObjectStore = obstore.store.LocalStore(place.folder, mkdir=True)
            return local
        store: ObjectStore = obstore.store.from_url(
            place.url,
            config=_config(place, access),
            client_options=_client_options(place, access),
            retry_config={"max_retries": access.max_retries},
            credential_provider=access.credential_provider,
        )
    except (obstore.exceptions.BaseError, ValueError, TypeError, OSError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError("url", f"{place}: {_first_words(str(error))}") from None
    return store


def _config(place: Place, access: StoreAccess) -> dict[str, Any]:
    options = _OPTIONS[place.family]
    taken = {name for option in place.options for name in options[option]}
    config = {key: value for key, value in access.config.items() if key.lower() not in taken}
    wanted = place.options.get("endpoint")
    other = os.environ.get("AWS_ENDPOINT_URL_S3") if place.family == "s3" else None
    if wanted is not None and other and other.rstrip("/") != wanted.rstrip("/"):  # obstore would heed the variable
        raise ConfigurationError("url", f"{place}: AWS_ENDPOINT_URL_S3 says {other}: unset it, or leave endpoint out")
    return config | {options[option][0]: value for option, value in place.options.items()}


def _client_options(place: Place, access: StoreAccess) -> dict[str, Any]:
    options: dict[str, Any] = {"timeout": TIMEOUT, "connect_timeout": CONNECT_TIMEOUT}
    if place.options.get("endpoint", "").startswith("http://"):
        options["allow_http"] = True
    return options | dict(access.client_options)


def claim(place: Place) -> None:
    """Say that this process makes requests now, in the threads that obstore starts with the first one.

    Raises:
        StoreRefusedError: it was forked from one that did; here they would wait for ever.
    """
    global _user
    _user = _user or os.getpid()
    if _user != os.getpid():
        reason = "this process was forked from one that had sent to an object store, and cannot send there itself"
        raise StoreRefusedError(str(place), f"{reason}: what it logged waits in the spool; start processes by spawn")


def store_error(place: Place, error: Exception) -> UploaderError:
    """What an error of obstore means. Its own text may quote a signed address, so that it is not kept."""
    text = str(error)
    status = _number(_STATUS.search(text))
    code, message = (match[1] if (match := each.search(text)) else "" for each in (_CODE, _MESSAGE))
    reason = f"HTTP {status} {code}".strip() if status else _first_words(text)
    if status and message:
        reason = f"{reason}: {message}"
    elif kind := _KIND.search(text):
        reason = f"{reason} ({kind[1]})"
    if status in _REFUSED or code in _REFUSED_CODES or type(error).__name__ in _REFUSED_TYPES:
        return StoreRefusedError(str(place), reason, status_code=status)
    if status in _BUSY:
        return StoreBusyError(str(place), reason, status_code=status)
    if status == _TOO_LARGE:
        return PayloadTooLargeError(f"{place}: {reason}", status_code=status)
    return StoreError(str(place), reason, status_code=status)


def _number(match: re.Match[str] | None) -> int | None:
    return int(match[1]) if match else None


def _first_words(text: str) -> str:
    """An error's first paragraph, without what a signed address ends with."""
    return _QUERY.sub(r"\1", text.partition("\n\n")[0].strip())
